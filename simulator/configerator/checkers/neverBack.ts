import { configChecker } from './checker';

/** 19: what a host has of a path is never older than what it had, but for a cache whose disk took nothing. */
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
