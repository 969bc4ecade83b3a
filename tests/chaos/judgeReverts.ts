import { WorkflowNotFoundError } from '@temporalio/client';
import { workflowIds } from '../../domain/ids';
import { REQUEST_LIMITS } from '../../domain/limits';
import { isKnownBad, type PipelineState } from '../../domain/pipeline/state';
import { TURN_MS } from '../workflows/activityEnds';
import type { JobView, VirtualWorld } from '../workflows/world';
import { deployOf, deploysOf, releasesOf, type Deploy } from './play';
import type { Scenario } from './scenario';

/** A person's revert of a deploy or rollback of a release: the request and the answer. */
export interface AskedBack {
  readonly pipeline: string;
  readonly verb: 'revert' | 'roll-back';
  /** The release whose deploy was to go back, or that was to be undone. */
  readonly of: number;
  readonly actor: string;
  readonly reason: string;
  readonly atMs: number;
  /** `release`: the rollback; it has no `seen` if it was already running. */
  readonly answer: { readonly release: number | null; readonly seen?: Seen } | Refused;
}

interface Refused {
  readonly refused: string;
  readonly seen: Seen;
}

/** The fleet and the records at the moment of an answer. */
interface Seen {
  /** Whether the workflow of the deploy to revert runs. */
  readonly runs: boolean;
  readonly deploys: readonly Deploy[];
  readonly state: PipelineState | null;
  /** Null if the deploy brings configuration, which tasks do not report as their version. */
  readonly jobs: readonly JobView[] | null;
  /** The release of another pipeline that is reported to run now, with its deploy's outcome. */
  readonly other: Pick<Deploy, 'version' | 'outcome'> | null;
}

const BROUGHT_BY_ANOTHER = /^(\S+)\/(\d+) is what runs now \((\S+)\); revert that one, or say /;

/** @throws the server's error, unless the workflow does not exist */
export async function seeMoment(
  world: VirtualWorld,
  { pipeline, configuration }: Pick<Scenario, 'pipeline' | 'configuration'>,
  release: number,
  refused = '',
): Promise<Seen> {
  const [, other, number] = BROUGHT_BY_ANOTHER.exec(refused) ?? [];
  return {
    runs: await isRunning(world, workflowIds.deploy(pipeline, release, 'deploy', 1)),
    deploys: await deploysOf(world, pipeline),
    state: await world.pipeline(pipeline).query<PipelineState | null>('pipeline'),
    jobs: configuration === undefined ? await world.jobs() : null,
    other: other && other !== pipeline ? await deployOf(world, other, Number(number)) : null,
  };
}

async function isRunning(world: VirtualWorld, id: string): Promise<boolean> {
  try {
    return (await world.client.workflow.getHandle(id).describe()).status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

const UNDOING: ReadonlySet<string> = new Set(['step-undone', 'undo-failed', 'not-undone']);

/** The promised second, one more for a busy machine, and the time for which an activity may wait to report its end. */
const WITHIN_MS = 2_000 + TURN_MS;

/**
 * Each accepted revert and rollback began within a second, each rollback restored the version that ran just before, and
 * each refusal had a true reason.
 */
export async function judgeReverts(
  world: VirtualWorld,
  { pipeline, happenings, source }: Scenario,
  asked: readonly AskedBack[],
): Promise<void> {
  // A terminated release or deploy begins nothing any more.
  const isStopped = happenings.some(({ kind }) => kind === 'temporal');
  const deploys = await deploysOf(world, pipeline);
  const releases = await releasesOf(world, pipeline);
  const wrong = asked.flatMap((one) => {
    if (one.pipeline !== pipeline) return [];
    const { verb, of, atMs, answer } = one;
    // Rollbacks of several deploys have reasons that one of them does not show.
    const isOfSeveral = source.actions['early'] !== undefined;
    if ('refused' in answer) return (isOfSeveral ? undefined : untrue(one, answer)) ?? [];
    if (isStopped) return [];
    const late = (what: string, ms: number): string[] =>
      ms <= WITHIN_MS ? [] : [`${what} ${ms} ms after it was asked for`];
    if (verb === 'roll-back') {
      const rollback = releases.find(({ number }) => number === answer.release);
      const brought = deploys.find(({ release }) => release === answer.release)?.version;
      const tooFar = brought && answer.seen && !isOfSeveral ? (passedOver(answer.seen, of, brought) ?? []) : [];
      return late(`the rollback of release ${of} began`, Date.parse(rollback?.startedAt ?? '') - atMs).concat(tooFar);
    }
    const deploy = deploys.find(({ release }) => release === of);
    // A deploy that had updated nothing undoes its steps, which judgeSteps judges, and ends.
    if (!deploy?.revert && deploy?.timeline.some(({ kind }) => UNDOING.has(kind))) return [];
    const began = [deploy?.revert?.startedAt, deploy?.endedAt].flatMap((at) => (at ? [Date.parse(at)] : []));
    return late(`the revert of release ${of} began`, Math.min(...began) - atMs);
  });
  expect(wrong).toEqual([]);
}

/** The hotfix, or other good release, that a rollback undoes in addition to its target; undefined if there is none. */
export function passedOver(seen: Pick<Seen, 'deploys' | 'state'>, of: number, brought: string): string | undefined {
  const before = succeededOf(seen).filter(({ release }) => release < of);
  const last = before.findLast(({ version }) => version === brought)?.release ?? 0;
  const over = before.findLast((deploy) => deploy.release > last && isEarlierGood(seen, deploy, of));
  return over && `the rollback of release ${of} brings ${brought}, past ${over.version} of release ${over.release}`;
}

/** The fault of a refusal; undefined if its reason was true, by the observations at that moment. */
export function untrue(asked: Omit<AskedBack, 'answer'>, { refused, seen }: Refused): string | undefined {
  const claim = CLAIMS.find(([words]) => words.test(refused));
  if (claim === undefined) return `nothing is known to hold this refusal against: ${refused}`;
  return claim[1](seen, asked, refused)
    ? undefined
    : `${asked.verb} of release ${asked.of} was refused for what was not so: ${refused}`;
}

type Claim = (seen: Seen, asked: Omit<AskedBack, 'answer'>, refused: string) => boolean;

const succeededOf = ({ deploys }: Pick<Seen, 'deploys'>): readonly Deploy[] =>
  deploys.filter(({ outcome }) => outcome === 'succeeded');

const isBad = ({ state }: Pick<Seen, 'state'>, version: string): boolean =>
  state !== null && undefined !== isKnownBad(state, { name: 'executable', kind: 'executable', version, metadata: {} });

/** An earlier release of another version than the one to undo, which is not bad, and neither undone nor being undone. */
function isEarlierGood(seen: Pick<Seen, 'deploys' | 'state'>, { release, version }: Deploy, of: number): boolean {
  const undone = seen.deploys.find((deploy) => deploy.release === of);
  const brought = findCompleted(seen, release);
  const isUndone = releasesIn(seen).some((one) => one.trigger.kind === 'rollback' && one.trigger.of === brought);
  return release < of && version !== undone?.version && !isUndone && !isBad(seen, version);
}

const releasesIn = ({ state }: Pick<Seen, 'state'>) => [...(state?.history ?? []), ...(state?.active ?? [])];

/** The release that a follow-on completes, with which it is undone; another release itself. */
function findCompleted(seen: Pick<Seen, 'state'>, release: number): number | undefined {
  const trigger = releasesIn(seen).find(({ number }) => number === release)?.trigger;
  return trigger?.kind === 'follow-on' ? trigger.of : release;
}

/** Claims of refusals, and whether they are true. */
const CLAIMS: readonly (readonly [RegExp, Claim])[] = [
  [/ is not an owner of /, (_, { actor }) => actor !== 'user:alice'],
  [/^there is none$/, ({ runs }) => !runs],
  [
    /^it has ended$/,
    ({ deploys }, { of }) => deploys.some((deploy) => deploy.release === of && deploy.endedAt !== null),
  ],
  [/^a reason is .*, more than /, (_, { reason }) => reason.length > REQUEST_LIMITS.reason.max],
  [/^nothing of it is deployed$/, (seen, { of }) => succeededOf(seen).every(({ release }) => release !== of)],
  [
    BROUGHT_BY_ANOTHER,
    ({ other }, _, refused) =>
      other?.outcome === 'succeeded' && other.version === BROUGHT_BY_ANOTHER.exec(refused)?.[3],
  ],
  [
    /^release \d+ (is what runs now|may still run)/,
    (seen, { of }, refused) => {
      const said = Number(/\d+/.exec(refused)?.[0]);
      const brought = succeededOf(seen).find(({ release }) => release === said);
      if (said === of || brought === undefined) return false;
      return seen.jobs === null || seen.jobs.some(({ versions }) => brought.version in versions);
    },
  ],
  [
    /^release \d+ is being deployed over release \d+/,
    (seen, _, refused) => {
      const [over, under] = (refused.match(/\d+/g) ?? []).map(Number);
      const last = succeededOf(seen).at(-1)?.release;
      const isOver = last !== undefined && findCompleted(seen, last) === under;
      return seen.state?.deploys.holder?.owner === String(over) && isOver;
    },
  ],
  [
    /^release \d+ undoes it together with release \d+$/,
    (seen, { of }, refused) => {
      const [by, undone] = (refused.match(/\d+/g) ?? []).map(Number);
      const rollback = seen.state?.active.find(({ number }) => number === by)?.trigger;
      return (
        undone !== of && findCompleted(seen, of) === undone && rollback?.kind === 'rollback' && rollback.of === undone
      );
    },
  ],
  [
    /^release \d+ is being deployed; revert that one$/,
    ({ state }, { of }, refused) => {
      const said = /\d+/.exec(refused)?.[0];
      return state?.deploys.holder?.owner === said && said !== String(of);
    },
  ],
  [
    /^nothing that ran before it is known to be good/,
    (seen, { of }) => succeededOf(seen).every((deploy) => !isEarlierGood(seen, deploy, of)),
  ],
  [
    /^it has not started$/,
    ({ state }, { of }) => state?.active.some(({ number, state: now }) => number === of && now === 'queued') === true,
  ],
  [
    /^no earlier release had (\S+), which the pipeline file now deploys/,
    (seen, { of }, refused) => {
      const [, artifact = ''] = /had (\S+),/.exec(refused) ?? [];
      const had = ({ release, version }: Deploy): boolean => release < of && version.includes(`${artifact}@`);
      return !succeededOf(seen).some(had);
    },
  ],
  [/^its end is being recorded/, ({ state }, { of }) => state?.active.some(({ number }) => number === of) === true],
];
