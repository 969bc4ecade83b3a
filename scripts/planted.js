// `npm run chaos -- --planted`: tests whether stories that pass in the checkout find defects that are planted one after the other in a copy of it.
'use strict';

const { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { ROOT, Failed, say } = require('./steps');
const { playStories } = require('./stories');

const DEFECTS = path.join(ROOT, 'tests/chaos/planted.json');
/** Not copied: folders that are large and not read, or linked. */
const LEFT_OUT = ['.git', 'node_modules'];
/** The number of seeds played before a check whether one has failed. The first portion includes the kept stories. */
const PORTION = 25;

const readDefects = () => JSON.parse(readFileSync(DEFECTS, 'utf8'));

/** @throws Failed if the text does not occur exactly once: the code has changed since the defect was written. */
function plantDefect({ name, file, find, replace }, read = (of) => readFileSync(path.join(ROOT, of), 'utf8')) {
  const parts = read(file).split(find);
  if (parts.length !== 2) throw new Failed(`error: ${file} has ${parts.length - 1} places for "${name}", not one`);
  return parts.join(replace);
}

/** The defects whose name has these words. @throws Failed if there is none */
function chooseDefects(only, defects = readDefects()) {
  const chosen = defects.filter(({ name }) => name.includes(only));
  if (chosen.length > 0) return chosen;
  throw new Failed(`error: no defect is called "${only}"; ${path.relative(ROOT, DEFECTS)} has their names`, 2);
}

/** Prints for each defect the first seeds that found it, or none; returns the exit code. */
async function runPlanted({ seeds, from, only }) {
  const missed = [];
  for (const defect of chooseDefects(only)) if (!(await isFound(defect, { seeds, from }))) missed.push(defect);
  for (const { name } of missed) say(`not found: ${name}`);
  return missed.length > 0 ? 1 : 0;
}

async function isFound(defect, { seeds, from }) {
  say(`▸ planted: ${defect.name}`);
  const copy = mkdtempSync(path.join(tmpdir(), 'conveyor-planted-'));
  try {
    cpSync(ROOT, copy, { recursive: true, filter: (source) => !LEFT_OUT.includes(path.relative(ROOT, source)) });
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
    writeFileSync(path.join(copy, defect.file), plantDefect(defect));
    for (let seed = from; seed < from + seeds; seed += PORTION) {
      const count = Math.min(PORTION, from + seeds - seed);
      const portion = { seeds: count, from: seed, past: seed === from, kind: defect.kind };
      const { failed: found } = await playStories(copy, portion);
      if (found.length === 0) continue;
      say(`found by ${found.join(', ')}: ${defect.name}`);
      return true;
    }
    return false;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

module.exports = { chooseDefects, plantDefect, readDefects, runPlanted };
