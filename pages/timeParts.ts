import type { ActionView, DeployStatus, ReleaseStatus } from '../domain/views';
import type { BarPart } from './parts/bars';
import { workKind } from './tones';

interface TimeSpan {
  readonly kind: string;
  readonly label: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** A later kind hides an earlier one that runs at the same time. */
const RANKS = ['wait', 'other', 'build', 'test', 'deploy', 'update', 'bake', 'revert'];

/** How a release spent its time: its actions, its deploys by phase as far as they are known, and the waits between them. */
export function splitReleaseTime(
  release: Pick<ReleaseStatus, 'startedAt' | 'endedAt' | 'actions'>,
  deploys: readonly DeployStatus[],
  nowMs: number,
): readonly BarPart[] {
  const [fromMs, untilMs] = [Date.parse(release.startedAt), endOr(release.endedAt, nowMs)];
  const spans = release.actions.flatMap((action) => [
    ...actionSpans(action, nowMs),
    ...deploys.filter(({ id }) => id === action.deploy).flatMap((deploy) => deploySpans(deploy, nowMs)),
  ]);
  return joinParts([{ kind: 'wait', label: 'waiting', fromMs, untilMs }, ...spans], fromMs, untilMs);
}

const endOr = (iso: string | null, nowMs: number): number => (iso === null ? nowMs : Date.parse(iso));

function actionSpans(action: ActionView, nowMs: number): TimeSpan[] {
  if (action.startedAt === null || action.carriedFrom !== undefined) return [];
  const untilMs = endOr(action.endedAt, nowMs);
  return [{ kind: workKind(action), label: action.name, fromMs: Date.parse(action.startedAt), untilMs }];
}

function deploySpans({ phases, revert }: DeployStatus, nowMs: number): TimeSpan[] {
  const ofPhases = phases.flatMap(({ name, startedAt, updatedAt, bakedAt, bakeUntil }): TimeSpan[] => {
    if (startedAt === null) return [];
    const update = {
      ...{ kind: 'update', label: `${name}: update` },
      ...{ fromMs: Date.parse(startedAt), untilMs: endOr(updatedAt, nowMs) },
    };
    if (updatedAt === null || (bakedAt === null && bakeUntil === null)) return [update];
    const bake = {
      ...{ kind: 'bake', label: `${name}: bake` },
      ...{
        fromMs: Date.parse(updatedAt),
        untilMs: endOr(bakedAt, Math.min(nowMs, endOr(revert?.startedAt ?? null, nowMs))),
      },
    };
    return [update, bake];
  });
  if (revert === null) return ofPhases;
  const untilMs = endOr(revert.endedAt, nowMs);
  return [...ofPhases, { kind: 'revert', label: 'revert', fromMs: Date.parse(revert.startedAt), untilMs }];
}

/** One part after another: each moment belongs to the highest kind, and equal neighbours are one part. */
function joinParts(spans: readonly TimeSpan[], fromMs: number, untilMs: number): readonly BarPart[] {
  const within = (atMs: number): number => Math.max(fromMs, Math.min(untilMs, atMs));
  const bounds = [...new Set(spans.flatMap((span) => [within(span.fromMs), within(span.untilMs)]))]
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  const parts: BarPart[] = [];
  for (const [nth, startMs] of bounds.slice(0, -1).entries()) {
    const endMs = bounds[nth + 1] ?? startMs;
    const [top] = spans
      .filter((span) => span.fromMs <= startMs && span.untilMs >= endMs)
      .sort((a, b) => RANKS.indexOf(b.kind) - RANKS.indexOf(a.kind));
    if (top === undefined) continue;
    const last = parts.at(-1);
    const ms = endMs - startMs;
    if (last?.label === top.label) parts[parts.length - 1] = { ...last, ms: last.ms + ms };
    else parts.push({ kind: top.kind, label: top.label, ms });
  }
  return parts;
}
