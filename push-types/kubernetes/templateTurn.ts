import { isKubernetesError } from './client/errors';
import type { ClusterWriter } from './kubeCluster';
import type { UnitRound } from './round';
import { isTemplateDue, isTemplateFirst, moveTemplate, type MoveOutcome } from './unitMoves';

/** Changes the template when its turn is: that of a revert before the pods, otherwise after them. Returns the outcome if pods have to wait for it. */
export async function takeTemplateTurn(
  { name, unit, state }: UnitRound,
  turn: 'first' | 'last',
  { api, log }: ClusterWriter,
): Promise<MoveOutcome | undefined> {
  const move = state.moves?.[name];
  if (move === undefined) return undefined;
  const isFirst = isTemplateFirst(state, move);
  if ((turn === 'first') !== isFirst) return undefined;
  if (!isFirst && !isTemplateDue(state, name, move)) return undefined;
  try {
    const outcome = await moveTemplate(api, unit, move);
    if (outcome.isDone && state.moves?.[name] === move) {
      delete state.moves[name];
      (state.moved ??= {})[name] = { from: move.from };
    }
    return outcome.isDone ? undefined : outcome;
  } catch (error) {
    if (!isKubernetesError(error)) throw error;
    log(`${name}: the template is not changed: ${error.message}`);
    return { isDone: false, reason: error.message };
  }
}
