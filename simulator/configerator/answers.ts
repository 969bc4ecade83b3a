import type { Configerator } from './configerator';
import { getHostGroup, formatHostName } from './lookups';
import { rememberAnswer } from './past';
import { answerIndex, type KnownPath } from './paths';
import { UNACKNOWLEDGED } from './state';

/** The answers that applications on hosts have, and how long delivery may take. */

/** After the last change or fault, everything has arrived everywhere within this time. */
const SETTLED_AFTER_MS = 30_000;

/** Notes a change after which hosts need a while to have everything. */
export function stir(it: Configerator): void {
  const { state, world } = it;
  state.stirredAt = world.now;
  if (state.isSettling) return;
  state.isSettling = true;
  world.after(SETTLED_AFTER_MS, { kind: 'config-settle' });
}

export function onSettle(it: Configerator): void {
  const { state, world } = it;
  const at = state.stirredAt + world.scaled(SETTLED_AFTER_MS);
  state.isSettling = world.now < at;
  if (state.isSettling) world.at(at, { kind: 'config-settle' });
  else if (state.faults.size === 0) it.notify({ kind: 'settled' });
}

/** Gives the application its proxy's value of a path, if that differs from the one it has. */
export function showAnswer(
  it: Configerator,
  host: number,
  nth: number,
  known: KnownPath,
  { fromCache = false, sinceMs = it.world.now } = {},
): void {
  const { state } = it;
  const group = getHostGroup(it, host);
  const cell = (state.hosts.firstCell[host] ?? 0) + nth;
  const as = { name: formatHostName(it, host), labels: group.labels };
  const index = answerIndex(state, group.paths[nth] ?? -1, as, known);
  if (state.cells.answer[cell] === index) return;
  state.cells.answer[cell] = index;
  state.hosts.marks[host] = (state.hosts.marks[host] ?? 0) | UNACKNOWLEDGED;
  noteAnswer(it, cell, index, sinceMs);
  const answer = state.answers[index];
  if (answer) it.notify({ kind: 'seen', host, cell, as, repository: group.repository, answer, fromCache });
}

export const noteAnswer = ({ state }: Configerator, cell: number, answer: number, from: number): void =>
  rememberAnswer(state.past, state.cells.latest, state.cellCount, { cell, answer, from });
