// `npm run docs`: the documents as a static site in dist/site, with a search that works offline. The pages stay where
// people read them on a forge. For the generator, which supports only pages, they are copied into a layout of their
// own: a README becomes an index, and other files that a page links to are copied along.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { spawnSync } = require('node:child_process');
const { ROOT, Failed } = require('./steps');

const PAGES = path.join(ROOT, 'dist/site-pages');
const SITE = path.join(ROOT, 'dist/site');
const CODE = /^(\s*)(```|~~~)/;
const LINK = /(\]\()([^)\s]+)(\))/g;
/** In pages the generator would replace `{{ name }}` with a value. */
const BRACES = /`([^`]*\{\{[^`]*)`/g;

/** Every page of the site, by its path in the checkout. */
function sources() {
  const walk = (folder) =>
    fs
      .readdirSync(path.join(ROOT, folder), { withFileTypes: true })
      .filter(({ name }) => name !== 'node_modules')
      .flatMap((entry) => {
        const file = path.posix.join(folder, entry.name);
        return entry.isDirectory() ? walk(file) : file.endsWith('.md') ? [file] : [];
      });
  const top = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'sdk/README.md'];
  return [...top, ...walk('docs'), ...walk('examples'), ...walk('bench')];
}

const toStagedPath = (page) => page.replace(/(^|\/)README\.md$/, '$1index.md');

/** The target of a page's link on the site; records the files that must be copied. */
function siteLink(page, target, pages, files) {
  if (/^([a-z]+:|#)/.test(target)) return target;
  const [to, anchor] = target.split('#');
  const found = path.posix.normalize(path.posix.join(path.posix.dirname(page), to));
  const suffix = anchor === undefined ? '' : `#${anchor}`;
  if (pages.has(found))
    return `${path.posix.relative(path.posix.dirname(toStagedPath(page)), toStagedPath(found))}${suffix}`;
  if (!fs.existsSync(path.join(ROOT, found)) || fs.statSync(path.join(ROOT, found)).isDirectory())
    throw new Failed(`${page} links ${target}, which is no page and no file`);
  files.add(found);
  return `/${found}`;
}

/** The text of a page with the links that the site needs; code stays unchanged. */
function stagePage(page, pages, files) {
  let fence;
  const lines = fs.readFileSync(path.join(ROOT, page), 'utf8').split('\n');
  return lines
    .map((line) => {
      const [, , mark] = CODE.exec(line) ?? [];
      if (mark && fence === undefined) fence = mark;
      else if (mark && mark === fence) fence = undefined;
      if (fence !== undefined || mark) return line;
      return line
        .replace(LINK, (_, open, target, close) => `${open}${siteLink(page, target, pages, files)}${close}`)
        .replace(BRACES, (_, code) => `<code v-pre>${code.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</code>`);
    })
    .join('\n');
}

/** Copies the pages and all files that they link to. @returns their paths on the site. */
function stage(to = PAGES) {
  fs.rmSync(to, { recursive: true, force: true });
  const pages = new Set(sources());
  const files = new Set();
  for (const page of pages) write(path.join(to, toStagedPath(page)), stagePage(page, pages, files));
  for (const file of files) write(path.join(to, 'public', file), fs.readFileSync(path.join(ROOT, file)));
  return [...pages].map(toStagedPath);
}

function write(file, content) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
}

/** Builds the site, or serves it for editing (`npm run docs -- --serve`). A dead link fails the build. */
function runDocs(args) {
  const { length: count } = stage();
  const verb = args.includes('--serve') ? ['dev'] : ['build'];
  const vitepress = path.join(ROOT, 'node_modules/vitepress/bin/vitepress.js');
  const { status } = spawnSync(process.execPath, [vitepress, ...verb, 'tools/docs'], {
    cwd: ROOT,
    // Without it a link to a file of this kind counts as a link to a page.
    env: { ...process.env, VITE_EXTRA_EXTENSIONS: 'py' },
    stdio: 'inherit',
  });
  if (status === 0 && verb[0] === 'build')
    process.stdout.write(`${count} pages in ${path.relative(ROOT, SITE)}/index.html\n`);
  return status ?? 1;
}

module.exports = { runDocs, stage };
