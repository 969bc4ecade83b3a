// ESLint rule `conveyor/walls`: permits only the imports of layers.js. It resolves each import to a file, so that it
// does not mistake folders of the same name further down for layers.
'use strict';

const path = require('node:path');
const { LAYERS, NEVER, ONLY, REGISTRATIONS, featureOf, layerOf } = require('./layers');

const ROOT = path.resolve(__dirname, '../..');

module.exports = {
  meta: {
    type: 'problem',
    schema: [],
    docs: { description: 'imports stay within the walls of ARCHITECTURE.md#walls' },
  },
  create(context) {
    const file = relative(context.filename);
    const layer = layerOf(file);
    if (layer === undefined || !(layer in LAYERS)) return {};
    const check = (node, source, typesOnly) => {
      const complaint = typeof source?.value === 'string' && judge(layer, file, source.value, typesOnly);
      if (complaint) context.report({ node, message: complaint });
    };
    return {
      ImportDeclaration: (node) => check(node, node.source, isTypeOnly(node, node.importKind)),
      ExportNamedDeclaration: (node) => check(node, node.source, isTypeOnly(node, node.exportKind)),
      ExportAllDeclaration: (node) => check(node, node.source, node.exportKind === 'type'),
      ImportExpression: (node) => check(node, node.source, false),
      TSImportType: (node) => check(node, node.source ?? node.argument.literal, true),
      TSExternalModuleReference: (node) => check(node, node.expression, node.parent.importKind === 'type'),
      'CallExpression[callee.name="require"]': (node) => check(node, node.arguments[0], false),
    };
  },
};

/** The fault of an import, in a sentence; undefined if there is none. */
function judge(layer, file, target, typesOnly) {
  return target.startsWith('.') ? judgeFile(layer, file, target, typesOnly) : judgePackage(layer, target);
}

function judgeFile(layer, file, target, typesOnly) {
  const place = path.posix.join(path.posix.dirname(file), target);
  const feature = featureOf(place);
  if (feature !== undefined && feature !== featureOf(file) && !REGISTRATIONS.includes(file))
    return `${file} may not import the feature ${feature}: only ${REGISTRATIONS.join(', ')} name features, so that one can be removed`;
  const imported = layerOf(place);
  const { from, types, why } = LAYERS[layer];
  if (imported === undefined || imported === layer || from.includes(imported)) return undefined;
  if (imported in NEVER) return `${layer} may not import ${imported}: ${NEVER[imported]}`;
  if (!types.includes(imported)) return `${layer} may not import ${imported}: ${why}`;
  return typesOnly ? undefined : `${layer} may import only types of ${imported} (import type …): ${why}`;
}

function judgePackage(layer, target) {
  const { packages, why } = LAYERS[layer];
  const name = target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
  const only = Object.hasOwn(ONLY, name) ? ONLY[name] : undefined;
  if (only !== undefined && only.layer !== layer) return `${layer} may not import ${name}: ${only.why}`;
  if (packages === undefined) return undefined;
  return packages.includes(name) ? undefined : `${layer} may not import ${name}: ${why}`;
}

/** `import type { A }`, or `import { type A }`: with isolatedModules both leave nothing at run time. */
function isTypeOnly(node, kind) {
  if (kind === 'type') return true;
  const names = node.specifiers ?? [];
  return names.length > 0 && names.every((name) => (name.importKind ?? name.exportKind) === 'type');
}

const relative = (file) => path.relative(ROOT, path.resolve(ROOT, file)).split(path.sep).join('/');
