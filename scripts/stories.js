// Stories of the chaos test in processes of their own, for those that count which of them fail.
'use strict';

const { spawn } = require('node:child_process');
const { Failed } = require('./steps');

/** Plays seeds in a checkout, with `past` also the stories that are kept. @returns the seeds and files that failed, and all that was printed. @throws Failed when no story was played */
async function playStories(cwd, { seeds, from, past = false, configuration = false }) {
  const flags = [...(past ? ['--past'] : []), ...(configuration ? ['--configuration'] : [])];
  const args = ['scripts/run.js', 'chaos', '--seeds', String(seeds), '--from', String(from), ...flags];
  const { output, status } = await printed(args, cwd);
  if (!output.includes(`chaos seed ${from}`)) throw new Failed(`error: no story was played\n${output.slice(-2_000)}`);
  return { failed: failedIn(output), output, isWhole: status === 0 };
}

function printed(args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output: Buffer.concat(chunks).toString('utf8') }));
  });
}

/** The seeds and files of stories that Jest says have failed. */
const failedIn = (output) => [
  ...new Set([...output.matchAll(/✕ .*(?: seed |goes well: )(\d+|\S+\.json)/g)].map(([, name]) => name)),
];

module.exports = { failedIn, playStories };
