"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.isGuarantee = exports.REQUIRED = exports.GUARANTEES = void 0;exports.withoutIsolation = withoutIsolation;var _text = await jitiImport("./text");

/**
 * The runner's guarantees about scripts, as far as the machine has the means. Each was tested on the machine itself
 * (sandbox/probe.ts).
 */
const GUARANTEES = exports.GUARANTEES = {
  environment: {
    keepsFrom: "reading the worker's environment",
    fix: 'let the worker make namespaces (docs/reference/scripts.md), or run it as root so that scripts get another user'
  },
  network: {
    keepsFrom: 'reaching the network and Temporal',
    fix: 'let the worker make namespaces (docs/reference/scripts.md), and leave out network: host under scripts'
  },
  files: {
    keepsFrom: 'writing files of this machine',
    fix: 'let the worker make namespaces (docs/reference/scripts.md)'
  },
  user: {
    keepsFrom: "reading what only the worker's user may read",
    fix: 'run the worker as root: it gives its scripts to scripts.user; the folder for scripts has to be open to that user'
  },
  leftovers: {
    keepsFrom: 'leaving processes behind',
    fix: 'let the worker make namespaces (docs/reference/scripts.md)'
  },
  processes: {
    keepsFrom: 'starting processes without limit',
    fix: 'install util-linux, which has prlimit; run the worker as root or in namespaces'
  },
  memory: {
    keepsFrom: 'taking memory without limit',
    fix: 'install util-linux, which has prlimit'
  },
  total: {
    keepsFrom: 'using up the machine with many processes at once',
    fix: 'give the worker a control group of its own (cgroup v2), by Delegate=yes of its service (docs/reference/scripts.md)'
  }
};



const isGuarantee = (name) => Object.hasOwn(GUARANTEES, name);

/**
 * The guarantees that `isolation: required` demands: all except the one that needs a delegated control group, which few
 * machines have.
 */exports.isGuarantee = isGuarantee;
const REQUIRED = exports.REQUIRED = Object.keys(GUARANTEES).
filter(isGuarantee).
filter((name) => name !== 'total');

/** One line; null if nothing is missing. */
function withoutIsolation(missing) {
  if (missing.length === 0) return null;
  const kept = missing.map((name) => GUARANTEES[name].keepsFrom);
  return `nothing keeps it from ${(0, _text.joinWords)(kept, 'or')}`;
} /* v9-3abde5a769be778e */
