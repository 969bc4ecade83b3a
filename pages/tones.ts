import type { ActionView, PipelineStatus, PipelineSummary, ReleaseEnding, ReleaseSummary } from '../domain/views';
import type { Tone } from '../render/paint';
import { OUTCOME_SYMBOLS, PAUSED_SYMBOL, RELEASE_SYMBOLS, type StatusSymbol } from '../render/words';

/** Signs, tones and colours that pages use in addition to the words of the command line. */

export const CLASS_BY_TONE: Readonly<Record<Tone, string>> = {
  good: 'good',
  bad: 'bad',
  warn: 'warn',
  busy: 'busy',
  quiet: 'quiet',
  plain: 'plain',
};

/** The word and sign of a release; once undone, those of a revert. */
export function releaseMark({ state, undone }: Pick<ReleaseSummary, 'state' | 'undone'>) {
  return { word: state, sign: undone?.at == null ? RELEASE_SYMBOLS[state] : OUTCOME_SYMBOLS.reverted };
}

export function pipelineMark({ state, ended }: Pick<PipelineSummary & PipelineStatus, 'state' | 'ended'>): {
  readonly word: string;
  readonly sign: StatusSymbol;
} {
  if (ended) return { word: 'retired', sign: { glyph: '·', tone: 'quiet' } };
  return { word: state, sign: state === 'active' ? { glyph: '✔', tone: 'good' } : PAUSED_SYMBOL };
}

export const END_SYMBOLS: Readonly<Record<ReleaseEnding, StatusSymbol>> = {
  succeeded: OUTCOME_SYMBOLS.succeeded,
  reverted: OUTCOME_SYMBOLS.reverted,
  failed: OUTCOME_SYMBOLS.failed,
  cancelled: OUTCOME_SYMBOLS.cancelled,
};

/** The kind of work of an action, for the colour of its part of a bar. */
export function workKind({ type }: Pick<ActionView, 'type'>): 'build' | 'test' | 'deploy' | 'other' {
  if (type === 'build' || type === 'pkg') return 'build';
  if (type === 'deploy' || type === 'canary') return 'deploy';
  return type.endsWith('-test') ? 'test' : 'other';
}
