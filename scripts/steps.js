// Steps that report their work and its duration on stderr: stdout belongs to the command at the end.
'use strict';

const { spawn } = require('node:child_process');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..');

/** A failure whose message is all that a person needs; any other error is a defect and keeps its stack. */
class Failed extends Error {
  constructor(message, code = 1) {
    super(message);
    this.code = code;
  }
}

/** Runs one step; `work` returns a word about its result, or nothing. */
async function step(name, work) {
  const began = Date.now();
  say(`▸ ${name}`);
  const found = await work();
  say(`✔ ${name}${typeof found === 'string' && found !== '' ? `: ${found}` : ''} (${seconds(began)})`);
}

/** Runs a command in the checkout; its output goes to stderr unless `capture`, which returns stdout instead. */
function run(command, args, { capture = false, env = {}, what = command } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', capture ? 'pipe' : 2, 2],
    });
    let output = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => reject(new Failed(`error: cannot run ${command}: ${error.message}`)));
    child.on('close', (code, signal) =>
      code === 0
        ? resolve(output)
        : reject(new Failed(`error: ${what} failed (${signal ?? `exit code ${code}`})`, code ?? 1)),
    );
  });
}

/** Runs a command that takes over the terminal, and passes signals on; returns its exit code. */
function handOver(command, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: 'inherit' });
    // The terminal sends Ctrl-C to both of us; the child drains and decides when we end.
    const ignore = () => undefined;
    const forward = (signal) => child.kill(signal);
    process.on('SIGINT', ignore).on('SIGTERM', forward).on('SIGHUP', forward);
    child.on('error', (error) => reject(new Failed(`error: cannot run ${command}: ${error.message}`)));
    child.on('close', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 1)));
  });
}

const say = (text) => process.stderr.write(`${text}\n`);
const seconds = (began) => `${((Date.now() - began) / 1000).toFixed(1)} s`;

/** Prints an error: the message of a failure, the stack of a defect. Returns the exit code. */
function report(error) {
  say(error instanceof Failed ? error.message : (error?.stack ?? String(error)));
  return error instanceof Failed ? error.code : 1;
}

module.exports = { ROOT, Failed, step, run, handOver, report, say };
