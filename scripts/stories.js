// Runs stories of the chaos test in separate processes, for scripts that count the failed ones.
'use strict';

const { spawn } = require('node:child_process');
const { Failed } = require('./steps');

/**
 * Plays seeds in a checkout, of one `kind` of stories if it is given (chaos.js); `past` adds the kept stories. @returns the seeds and files that failed, and the whole
 * output. @throws Failed if no story was played
 */
async function playStories(cwd, { seeds, from, past = false, kind }) {
  const flags = [...(past ? ['--past'] : []), ...(kind === undefined ? [] : [`--${kind}`])];
  const args = ['scripts/run.js', 'chaos', '--seeds', String(seeds), '--from', String(from), ...flags];
  const { output, status } = await captureOutput(args, cwd);
  if (!output.includes(`chaos seed ${from}`)) throw new Failed(`error: no story was played\n${output.slice(-2_000)}`);
  return { failed: parseFailures(output), output, isWhole: status === 0 };
}

function captureOutput(args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const texts = ['', ''];
    for (const [nth, stream] of [child.stdout, child.stderr].entries())
      stream.setEncoding('utf8').on('data', (text) => (texts[nth] += text));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output: texts.join('') }));
  });
}

/** The seeds and files of the stories that Jest reports as failed. */
const parseFailures = (output) => [
  ...new Set([...output.matchAll(/✕ .*(?: seed |goes well: )(\d+|\S+\.json)/g)].map(([, name]) => name)),
];

module.exports = { parseFailures, playStories };
