import { formatIdentity, type Artifact } from '../artifact';
import { unfitArtifact, unfitText } from '../excess';
import { groupBy } from '../groupBy';
import { alignCells, list, formatMarkdown, sections } from '../markdown';
import { formatDuration } from '../text';
import type { Trigger } from '../views';
import type { WantedArtifact, Page } from './pages';

/** The result of a sweep, in numbers, with a few words about refusals and failures. */
export interface SweepCounts {
  readonly pipelines: number;
  /** Calls to the finder, one for each page. */
  readonly calls: number;
  /** Artifacts that the finder found. */
  readonly found: number;
  /** Submissions that made a release. */
  readonly released: number;
  /** Repeated submissions. */
  readonly repeated: number;
  /** Submissions to pipelines that wait for their other artifacts. */
  readonly waiting: number;
  readonly refused: number;
  /** The first reasons of refusals. */
  readonly said: readonly string[];
}

/** The progress of a sweep. */
export interface SweepOutcome extends SweepCounts {
  /** The cursor from the first call; null if there was nothing to ask for. */
  readonly cursor: string | null;
  /** Pipelines whose latest the next sweep has to ask for. */
  readonly again: readonly string[];
}

export const NOT_BEGUN: SweepOutcome = {
  ...{ cursor: null, again: [], said: [] },
  ...{ pipelines: 0, calls: 0, found: 0, released: 0, repeated: 0, waiting: 0, refused: 0 },
};

export interface FinderAnswer {
  readonly found: readonly { readonly pipeline: string; readonly artifact: Artifact }[];
  readonly cursor: string;
  readonly refused: readonly FinderRefusal[];
}

export interface FinderRefusal {
  readonly pipeline: string;
  readonly artifact: string;
  readonly message: string;
  /** It lasts until a person changes something; from a service it is absent. */
  readonly lasts?: true;
}

/** A submission to one pipeline. */
export interface SweepSubmission {
  readonly pipeline: string;
  readonly artifacts: readonly Artifact[];
  readonly trigger: Trigger;
}

/** The result of a submission. `again`: the next sweep should submit it once more. */
export type Reception =
  | { readonly kind: 'released' | 'repeated' | 'waiting' }
  | { readonly kind: 'refused'; readonly why: string; readonly again: boolean };

/**
 * The results of a finder for a page: for each pipeline its submissions, in order. A submission holds one artifact of each name. If a finder found
 * several of one name, none of which replaces another, each has a submission of its own. Unrequested artifacts are left out.
 */
export function buildSubmissions(finder: string, { asked }: Page, { found }: FinderAnswer): SweepSubmission[] {
  const wanted = new Set(asked.map(subscriptionKey));
  const fit = found.filter(
    ({ pipeline, artifact }) =>
      wanted.has(subscriptionKey({ pipeline, artifact: artifact.name })) && !unfitArtifact(artifact),
  );
  return groupBy(fit, ({ pipeline }) => pipeline).flatMap(([pipeline, own]) =>
    rounds(own.map(({ artifact }) => artifact)).map((artifacts) => {
      const key = `${finder}:${artifacts.map(formatIdentity).sort().join('+')}`;
      return { pipeline, artifacts, trigger: { kind: 'finder', actor: `service:${finder}`, key } };
    }),
  );
}

/** The first of each name, then the second of each that has one, and so on. */
function rounds(artifacts: readonly Artifact[]): Artifact[][] {
  const byName = groupBy(artifacts, ({ name }) => name).map(([, own]) => own);
  const count = Math.max(0, ...byName.map((own) => own.length));
  return Array.from({ length: count }, (_, round) => byName.flatMap((own) => own[round] ?? []));
}

const subscriptionKey = ({ pipeline, artifact }: Pick<WantedArtifact, 'pipeline' | 'artifact'>): string =>
  `${pipeline}/${artifact}`;

/** The outcome after a page was answered. */
export function recordAnswer(outcome: SweepOutcome, page: Page, answer: FinderAnswer): SweepOutcome {
  const next: SweepOutcome = {
    ...outcome,
    cursor: outcome.cursor ?? answer.cursor,
    pipelines: outcome.pipelines + page.pipelines,
    calls: outcome.calls + 1,
    found: outcome.found + answer.found.length,
  };
  const unfit = answer.found.flatMap(({ pipeline, artifact }) => {
    const wrong = unfitArtifact(artifact);
    return wrong ? [{ pipeline, artifact: artifact.name, message: unfitText(wrong) }] : [];
  });
  const add = (sum: SweepOutcome, { pipeline, artifact, message }: FinderRefusal, again: boolean): SweepOutcome =>
    withRefusal(sum, pipeline, `${pipeline}, ${artifact}: ${message}`, again);
  const asked = answer.refused.reduce((sum, one) => add(sum, one, !one.lasts || hasRoom(sum)), next);
  return unfit.reduce<SweepOutcome>((sum, one) => add(sum, one, false), asked);
}

/** The outcome if a pipeline may not use the finder: nothing is requested for it. If there are very many, the next sweep knows only some by name. */
export const forbidden = (outcome: SweepOutcome, pipeline: string, why: string): SweepOutcome =>
  withRefusal(outcome, pipeline, `${pipeline}: ${why}`, hasRoom(outcome));

/**
 * Half of the room in a sweep's memory. Beyond that, a pipeline that is permitted again gets only versions that are new
 * from then on.
 */
const MOST_FORBIDDEN = 500;

const hasRoom = ({ again }: SweepOutcome): boolean => again.length < MOST_FORBIDDEN;

/** The outcome after a submission was received. */
export function recordReception(
  outcome: SweepOutcome,
  { pipeline }: SweepSubmission,
  reception: Reception,
): SweepOutcome {
  if (reception.kind === 'refused')
    return withRefusal(outcome, pipeline, `${pipeline}: ${reception.why}`, reception.again);
  return { ...outcome, [reception.kind]: outcome[reception.kind] + 1 };
}

const MAX_REFUSALS = 20;

function withRefusal(outcome: SweepOutcome, pipeline: string, said: string, again: boolean): SweepOutcome {
  return {
    ...outcome,
    refused: outcome.refused + 1,
    again: again && !outcome.again.includes(pipeline) ? [...outcome.again, pipeline] : outcome.again,
    said: outcome.said.length < MAX_REFUSALS ? [...outcome.said, said] : outcome.said,
  };
}

/** The details of sweeps in the Web UI: their interval while they continue, then the result of the last one. */
export function sweepDetails(finder: string, outcome: SweepCounts | null, intervalMs?: number): string {
  const often = intervalMs === undefined ? '' : ` every ${formatDuration(intervalMs)}`;
  if (outcome === null) return sections(formatMarkdown`Asks **${finder}**${often} what is new for its pipelines.`);
  const rows = COUNT_WORDS.map(([name, what]) => [String(outcome[name]), what]);
  const more = outcome.refused - outcome.said.length;
  const reasons = [...outcome.said, ...(more > 0 ? [`and ${more} more`] : [])].map(
    (reason) => formatMarkdown`${reason}`,
  );
  return sections(formatMarkdown`**${finder}** was asked what is new.`, alignCells(rows), list('Refused:', reasons));
}

const COUNT_WORDS = [
  ['pipelines', 'pipelines'],
  ['calls', 'calls, one a page'],
  ['found', 'artifacts found'],
  ['released', 'releases made'],
  ['repeated', 'known already'],
  ['waiting', 'waiting for other artifacts'],
  ['refused', 'refused'],
] as const;
