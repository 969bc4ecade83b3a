import { renderDeploy } from '../../render/deploy';
import type { Temporal } from '../../client/connection';
import { withLandedChange } from '../../client/landedChange';
import type { Landing } from '../../configerator/domain/landing';
import type { DeployStatus } from '../../domain/views';
import { deploy, NOW } from '../builders/cliSamples';
import { pipelineOf } from '../builders/pipelineWorld';

/** A change that had landed before its deploy was stopped is on the branch, whatever the deploy came to. */

const COMMIT = 'f'.repeat(40);
const LANDED = { change: 7, commit: COMMIT };
const of = { pipeline: 'kvstore', action: 'deploy' };

function temporal(landed: readonly Landing[] | null, config: object = { repository: 'app', paths: ['a'] }): Temporal {
  const { spec, ...state } = pipelineOf(['deploy']);
  const own = spec.actions['deploy'] as { with: object };
  const actions = { deploy: { ...own, with: { ...own.with, config } } };
  const answers: Readonly<Record<string, unknown>> = {
    'pipeline/kvstore': { ...state, spec: { ...spec, actions } },
    ...(landed === null ? {} : { 'landing/app': { waiting: [], landed } }),
  };
  const getHandle = (id: string) => ({
    query: () => (id in answers ? Promise.resolve(answers[id]) : Promise.reject(new Error(`no answer from ${id}`))),
  });
  return {
    client: { workflow: { getHandle }, withDeadline: (_: number, call: () => unknown) => call() },
  } as unknown as Temporal;
}

const ended = (outcome: DeployStatus['outcome'], version = `7@${'a'.repeat(40)}`) =>
  deploy({ state: 'ended', outcome, version, endedAt: new Date(NOW).toISOString() });
const refused = { change: 7, refused: { code: 'config-conflict', message: 'no', hint: '' } };

test.each<[string, DeployStatus, Temporal, object | undefined]>([
  ['cancelled after its change landed', ended('cancelled'), temporal([LANDED]), LANDED],
  ['failed after its change landed', ended('failed'), temporal([{ ...LANDED, change: 8 }, LANDED]), LANDED],
  ['cancelled before', ended('cancelled'), temporal([]), undefined],
  ['cancelled whose change was refused', ended('cancelled'), temporal([refused]), undefined],
  ['cancelled while another change landed', ended('cancelled'), temporal([{ ...LANDED, change: 8 }]), undefined],
  ['that came through, which says so itself', ended('succeeded'), temporal([LANDED]), undefined],
  ['of no configuration', ended('cancelled', 'kv:7'), temporal([LANDED]), undefined],
  ['of a config without a repository', ended('cancelled'), temporal([LANDED], { jobs: ['a'] }), undefined],
  ['whose landing strip does not answer', ended('cancelled'), temporal(null), undefined],
])('the status of a deploy %s', async (_, status, world, landed) => {
  expect((await withLandedChange(world, of, status)).landed).toEqual(landed);
});

test('the page of the deploy names the change and the commit', () => {
  const text = renderDeploy(
    { ...ended('cancelled'), landed: LANDED },
    { width: 200, color: false, now: NOW, timeZone: 'UTC' },
  );
  expect(text).toContain(
    `Landed:    change 7 is on the branch as ${COMMIT} and reaches all hosts: it had landed before the deploy was cancelled\n`,
  );
});
