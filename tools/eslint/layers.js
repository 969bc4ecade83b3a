// The permitted imports between layers (ARCHITECTURE.md#walls), stated only here. `walls.js` enforces them, and tests/walls.test.ts proves that it does.
//
// For each layer: `from` is the layers whose values it may import, `types` those of which it may import only types, `packages` the
// packages and Node built-ins that it may import (absent: any), `why` the purpose of the wall. A layer may always import itself.
// A feature has the same layers, in `features/<name>/`.
'use strict';

const PURE =
  'decisions are pure, so that the same input gives the same plan in a workflow, in a preview and in a test (and workflows cannot load the rest)';
const TOP = 'the programs at the top are imported nowhere: what two of them share belongs below';

const LAYERS = {
  'domain/spec': { from: ['domain', 'domain/calendar'], types: [], packages: ['zod', 'yaml', 'ms'], why: PURE },
  'domain/calendar': { from: ['domain'], types: ['domain/spec'], packages: ['luxon', 'croner', 'ical.js'], why: PURE },
  domain: { from: [], types: ['domain/spec', 'domain/calendar'], packages: [], why: PURE },
  workflows: {
    from: ['domain', 'configerator/domain'],
    types: ['domain/spec', 'domain/calendar', 'activities'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
    why: 'workflow code is deterministic and is loaded once for every running workflow: no effects, and nothing heavy such as schemas',
  },
  activities: {
    from: [
      ...['domain', 'domain/spec', 'domain/calendar', 'configerator/domain'],
      ...['sdk', 'settings', 'sandbox', 'configerator'],
    ],
    types: [],
    why: 'activities are effects behind ports; who runs them, and in which workflow, is not their business',
  },
  sandbox: {
    from: ['domain', 'settings'],
    types: [],
    why: 'the sandbox starts processes and looks after them; whose scripts they are, and why they run, is not its business',
  },
  'configerator/domain': { from: ['domain'], types: [], packages: [], why: PURE },
  configerator: {
    from: ['domain', 'domain/spec', 'configerator/domain', 'sdk', 'settings', 'sandbox'],
    types: [],
    why: 'configuration is compiled, kept and distributed without knowing who asks for it, or which workflow lands it',
  },
  sdk: {
    from: ['domain', 'domain/spec', 'configerator/domain'],
    types: [],
    why: 'the sdk is what an extension author installs: it must not drag the rest of Conveyor along',
  },
  settings: {
    from: ['domain', 'domain/spec', 'configerator/domain', 'sdk'],
    types: [],
    why: "what the platform's settings say is for all programs, so they know none of them",
  },
  archive: {
    from: ['domain', 'domain/spec', 'sdk', 'settings'],
    types: [],
    why: 'the archive keeps rows of ended runs, without knowing who reads them or where they come from',
  },
  simulator: {
    from: ['domain', 'domain/spec', 'configerator/domain', 'sdk', 'configerator'],
    types: [],
    why: 'the simulated world knows Conveyor only by its protocols, as a real one would',
  },
  'client/operations': {
    from: ['domain'],
    types: ['client', 'domain/spec', 'configerator', 'settings'],
    packages: ['node:crypto'],
    why: 'a row of an operation is read by clients of Temporal, by clients of a server, and by the server, so it loads none of them',
  },
  client: {
    from: ['domain', 'domain/spec', 'domain/calendar', 'configerator/domain', 'client/operations', 'workflows'],
    types: [],
    why: 'the client speaks to workflows by their messages; it runs nothing itself',
  },
  'client/http': {
    from: ['domain', 'client/operations', 'sdk'],
    types: ['client', 'domain/spec'],
    packages: ['node:crypto', 'node:timers'],
    why: 'commands that use a server need nothing of Temporal, which takes half a second to load',
  },
  server: {
    from: [
      ...['domain', 'domain/spec', 'domain/calendar', 'client', 'client/operations'],
      ...['sdk', 'settings', 'archive', 'configerator', 'render', 'pages'],
    ],
    types: [],
    why: 'front ends go through the client, so that both obey the same rules',
  },
  render: {
    from: ['domain', 'configerator/domain'],
    types: ['domain/spec', 'client', 'sdk', 'settings', 'configerator'],
    packages: ['picocolors', 'string-width'],
    why: 'words, tables and charts are made from what they show alone, for a terminal and for a page',
  },
  pages: {
    from: ['domain', 'render'],
    types: ['client', 'domain/spec'],
    packages: ['hono'],
    why: 'a page is a function of a model that the API answers with, so that it can be read as a text and asks nothing itself',
  },
  cli: {
    from: [
      ...['domain', 'domain/spec', 'domain/calendar', 'configerator/domain'],
      ...['client', 'client/operations', 'client/http'],
      ...['sdk', 'settings', 'archive', 'sandbox', 'configerator', 'render'],
    ],
    types: [],
    why: 'front ends go through the client; programs are started by path, in a process of their own or as this one',
  },
  workers: {
    from: [
      'domain',
      'domain/spec',
      'workflows',
      'activities',
      'sandbox',
      'client',
      'sdk',
      'settings',
      'archive',
      'simulator',
      'configerator',
    ],
    types: [],
    why: TOP,
  },
  'push-types': {
    from: ['sdk'],
    types: [],
    why: 'shipped push types use what authors of others have, the package of the sdk, and so prove that it is enough',
  },
  examples: {
    from: ['sdk'],
    types: [],
    why: 'examples show what a user can do, and users have the package of the sdk',
  },
};

/** Imports forbidden in every layer (tests and benchmarks may import everything, and nothing may import tests). */
const NEVER = { workers: TOP, cli: TOP, server: TOP, tests: 'code that runs must not need tests' };

/** Packages that only one layer may import, and the module to import instead. */
const ONLY = {
  luxon: {
    layer: 'domain/calendar',
    why: 'zones and daylight saving time have one rule, and domain/calendar keeps it',
  },
  'ical.js': { layer: 'domain/calendar', why: 'what calendars say becomes dated blackouts, in one place' },
  semver: { layer: 'sdk', why: 'versions have one order, and sdk/versions.ts keeps it' },
  croner: { layer: 'domain/calendar', why: 'calendars have one rule, and domain/calendar keeps it' },
};

/** The folder with a folder for each feature, which has the same layers inside. */
const FEATURES = 'features';

/** The files that name the features. No other file outside a feature imports it, so that it can be removed. */
const REGISTRATIONS = [
  'workflows/index.ts',
  'workers/features.ts',
  'settings/features.ts',
  'client/features.ts',
  'client/featureApi.ts',
  'client/operations/index.ts',
  'server/routes/index.ts',
  'server/pages/list.ts',
  'cli/commands/index.ts',
];

/** The folders of the checkout with these layers: all code that runs, except scripts. */
const FOLDERS = [...new Set([...Object.keys(LAYERS).map((layer) => layer.split('/')[0]), FEATURES])];

/** The feature of a file; undefined outside of features. */
const featureOf = (file) => (file.startsWith(`${FEATURES}/`) ? file.split('/')[1] : undefined);

/** The layer of a file, given relative to the checkout; undefined for a file in no layer. */
function layerOf(file) {
  const parts = file.split('/');
  const [top, second] = featureOf(file) === undefined ? parts : parts.slice(2);
  if (`${top}/${second}` in LAYERS) return `${top}/${second}`;
  return top in LAYERS || top in NEVER ? top : undefined;
}

module.exports = { FOLDERS, LAYERS, NEVER, ONLY, REGISTRATIONS, featureOf, layerOf };
