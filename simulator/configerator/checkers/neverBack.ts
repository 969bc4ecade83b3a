import { configChecker } from './checker';

/** 19: a host's version of a path is never older than the one before, except from a cache whose disk accepted no writes. */
export const neverBackChecker = configChecker<{ readonly ofCell: (number | null)[] }>({
  name: 'config-never-back',
  invariant: 19,
  fresh: () => ({ ofCell: [] }),
  see: (event, { ofCell }) => {
    if (event.kind === 'began') for (const cell of event.cells) ofCell[cell] = 0;
    if (event.kind !== 'seen') return null;
    const { cell, as, answer, fromCache } = event;
    const before = ofCell[cell] ?? 0;
    ofCell[cell] = answer.sequence;
    if (fromCache || answer.sequence >= before) return null;
    return `${as.name} went back with ${answer.path}, from commit ${before} to ${answer.sequence}`;
  },
});
