// Tests whether output built from some files is up to date, by a digest of their contents that is stored next to the output.
'use strict';

const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { ROOT } = require('./steps');

/** A digest of the TypeScript files in `folders` and of `files`, all relative to the checkout. */
function digest(folders, files) {
  const hash = createHash('sha256').update(process.versions.node);
  for (const file of [...folders.flatMap(sources), ...files].sort())
    hash.update(`\0${file}\0`).update(readFileSync(path.join(ROOT, file)));
  return hash.digest('hex');
}

function sources(folder) {
  const full = path.join(ROOT, folder);
  if (!existsSync(full)) return [];
  return readdirSync(full, { recursive: true })
    .filter((name) => /\.tsx?$/.test(name) && statSync(path.join(full, name)).isFile())
    .map((name) => path.join(folder, name));
}

const isCurrent = (made, stamp, value) =>
  existsSync(made) && existsSync(stamp) && readFileSync(stamp, 'utf8') === value;

function remember(stamp, value) {
  mkdirSync(path.dirname(stamp), { recursive: true });
  writeFileSync(stamp, value);
}

module.exports = { digest, isCurrent, remember };
