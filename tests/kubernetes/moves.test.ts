import { DAEMON_SET_MOVE } from '../../push-types/kubernetes/moves/daemonSet';
import { DEPLOYMENT_MOVE } from '../../push-types/kubernetes/moves/deployment';
import { planMove, type MoveSituation, type MoveStep } from '../../push-types/kubernetes/moves/move';
import { STATEFUL_SET_MOVE } from '../../push-types/kubernetes/moves/statefulSet';
import { MOVE_INTENT, UNIT_RECORD } from '../../push-types/kubernetes/records';
import type { WorkloadKind } from '../../push-types/kubernetes/settings';
import { viewPod, viewRevisions, viewWorkload } from '../../push-types/kubernetes/views';

const target = { version: 'new', update: 'deploy/a/1/deploy/1/1/1', image: 'kv:2' };
const template = (image: string, labels: object = {}, more: object = {}) => ({
  metadata: { labels: { app: 'web', ...labels } },
  spec: { containers: [{ name: 'app', image, ...more }] },
});

interface Written {
  readonly image?: string;
  readonly spec?: object;
  readonly status?: object;
  readonly intent?: object;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly pods?: readonly string[];
  readonly revisions?: readonly object[];
}

/** The reads of a workload, from the words of a test. */
function situate(kind: WorkloadKind, written: Written = {}): MoveSituation {
  const { image = 'kv:1', spec, status, intent, annotations, pods = ['old'], revisions = [] } = written;
  const workload = viewWorkload(kind, {
    metadata: {
      ...{ name: 'web', namespace: 'shop', uid: 'w', resourceVersion: '7', generation: 3 },
      annotations: { ...annotations, ...(intent && { [MOVE_INTENT]: JSON.stringify(intent) }) },
    },
    spec: { replicas: 2, selector: {}, template: template(image), ...spec },
    status: { observedGeneration: 3, updateRevision: 'old', currentRevision: 'old', ...status },
  });
  const rsKind = kind === 'DaemonSet' ? 'ControllerRevision' : 'ReplicaSet';
  return {
    ...{ workload, container: 'app', target },
    pods: pods.map((hash, index) => {
      const pod = viewPod(
        {
          metadata: {
            name: `web-${index}`,
            namespace: 'shop',
            uid: `p${index}`,
            resourceVersion: '5',
            labels: { 'controller-revision-hash': hash },
          },
          spec: { containers: [{ name: 'app', image: 'kv:2' }] },
        },
        'app',
      );
      if (pod === undefined) throw new Error('a pod cannot be read');
      return pod;
    }),
    revisions: viewRevisions(
      rsKind,
      revisions.map((one, index) => ({
        ...one,
        metadata: {
          ...{ name: `web-r${index}`, namespace: 'shop', uid: `r${index}`, resourceVersion: '9' },
          ownerReferences: [{ kind, name: 'web', uid: 'w' }],
          ...(one as { metadata?: object }).metadata,
        },
      })) as never,
      workload,
    ),
  };
}

const rs = (image: string, replicas: number, more: object = {}) => ({
  spec: { replicas, template: template(image, { 'pod-template-hash': 'x' }, more) },
});
const intent = { ...target, strategy: null };
const words = (step: MoveStep): unknown => {
  if (step.step === 'patch') return step.patches.map(({ ref, patch }) => [ref.kind, ref.name, patch]);
  if (step.step === 'remove') return ['remove', step.ref.name, step.uid];
  return step.step === 'done' ? 'done' : [step.step, step.reason];
};
const deployment = (written: Written) =>
  words(planMove(situate('Deployment', { revisions: [rs('kv:1', 2)], ...written }), DEPLOYMENT_MOVE));
const end = { [MOVE_INTENT]: null, [UNIT_RECORD]: JSON.stringify(target) };
const own = (metadata: object, spec?: object) => [
  [expect.any(String), 'web', { metadata: { resourceVersion: '7', ...metadata }, ...(spec && { spec }) }],
];

describe('the template of a Deployment changes without a restart', () => {
  test('the intent is written first, then the Deployment is paused', () => {
    expect(deployment({})).toEqual(own({ annotations: { [MOVE_INTENT]: JSON.stringify(intent) } }));
    expect(deployment({ intent })).toEqual(own({}, { paused: true }));
  });

  test('nothing else happens before its controller has seen the pause', () => {
    expect(deployment({ intent, spec: { paused: true }, status: { observedGeneration: 2 } })).toEqual([
      'wait',
      expect.stringContaining('has not seen'),
    ]);
  });

  test('an older scaled-down ReplicaSet that equals the new template is deleted, which the controller would prefer', () => {
    const revisions = [rs('kv:2', 0), rs('kv:1', 2)];
    expect(deployment({ intent, spec: { paused: true }, revisions })).toEqual(['remove', 'web-r0', 'r0']);
  });

  test('a scaled-down ReplicaSet that differs in anything else stays', () => {
    const revisions = [rs('kv:2', 0, { env: [{ name: 'A', value: '1' }] }), rs('kv:0', 0), rs('kv:1', 2)];
    expect(deployment({ intent, spec: { paused: true }, revisions })).toMatchObject([
      ['ReplicaSet', 'web-r2', { metadata: { resourceVersion: '9' } }],
    ]);
  });

  test('at the end template and pause change in one patch, which also ends the intent', () => {
    const revisions = [rs('kv:2', 2)];
    const spec = { paused: false, template: { spec: { containers: [{ name: 'app', image: 'kv:2' }] } } };
    expect(deployment({ intent, spec: { paused: true }, revisions })).toEqual(own({ annotations: end }, spec));
  });

  test('a Deployment without pods gets its template alone', () => {
    const spec = { paused: false, template: { spec: { containers: [{ name: 'app', image: 'kv:2' }] } } };
    expect(
      deployment({ intent, spec: { paused: true, replicas: 0 }, revisions: [rs('kv:1', 0), rs('kv:2', 0)] }),
    ).toEqual(own({ annotations: end }, spec));
  });

  test('it is done once template and record are there, and a missing record is written', () => {
    expect(deployment({ image: 'kv:2', annotations: { [UNIT_RECORD]: JSON.stringify(target) } })).toBe('done');
    expect(deployment({ image: 'kv:2' })).toEqual(own({ annotations: { [UNIT_RECORD]: JSON.stringify(target) } }));
  });

  test('a revert in the middle turns it round', () => {
    const back = { ...intent, version: 'old', image: 'kv:1' };
    expect(deployment({ intent: back, spec: { paused: true } })).toEqual(
      own({ annotations: { [MOVE_INTENT]: JSON.stringify(intent) } }),
    );
  });

  test.each<readonly [string, Written, string]>([
    ['a person has paused', { spec: { paused: true } }, 'resume it'],
    ['others roll out', { revisions: [rs('kv:1', 1), rs('kv:0', 1)] }, 'a rollout of web is under way'],
    ['others have just begun to roll out', { revisions: [rs('kv:0', 2)] }, 'a rollout of web is under way'],
    [
      'a person has resumed in the middle, so that it rolls back',
      { intent, revisions: [rs('kv:2', 1), rs('kv:1', 1)] },
      'a rollout of web is under way',
    ],
    [
      'others have changed something else during the pause',
      { intent, spec: { paused: true }, revisions: [rs('kv:1', 2, { env: [] })] },
      'undo that change',
    ],
  ])('it is refused while %s, with what to do', (_, written, reason) => {
    expect(deployment(written)).toEqual(['refuse', expect.stringContaining(reason)]);
  });
});

describe('the template of a StatefulSet changes without a restart', () => {
  const strategy = { type: 'RollingUpdate', rollingUpdate: { partition: 0, maxUnavailable: 2 } };
  const begun = { ...target, strategy };
  const statefulSet = (written: Written) =>
    words(
      planMove(
        situate('StatefulSet', { spec: { updateStrategy: strategy, ...written.spec }, ...written }),
        STATEFUL_SET_MOVE,
      ),
    );

  test('the intent keeps the strategy, and the template changes behind a partition that holds back all pods', () => {
    expect(statefulSet({})).toEqual(own({ annotations: { [MOVE_INTENT]: JSON.stringify(begun) } }));
    const spec = {
      updateStrategy: { rollingUpdate: { partition: 2 } },
      template: { spec: { containers: [{ name: 'app', image: 'kv:2' }] } },
    };
    expect(statefulSet({ intent: begun })).toEqual(own({}, spec));
  });

  test('pods get the label of the new revision, then the partition is put back', () => {
    const moved = { intent: begun, image: 'kv:2', status: { updateRevision: 'new' } };
    expect(statefulSet({ ...moved, pods: ['old', 'new', 'old'] })).toMatchObject([
      ['Pod', 'web-0', { metadata: { resourceVersion: '5', labels: { 'controller-revision-hash': 'new' } } }],
      ['Pod', 'web-2', {}],
    ]);
    expect(statefulSet({ ...moved, pods: ['new'] })).toEqual(
      own({ annotations: end }, { updateStrategy: { rollingUpdate: { partition: 0 } } }),
    );
  });

  test('no label is set before the controller has made the revision', () => {
    expect(statefulSet({ intent: begun, image: 'kv:2', status: { observedGeneration: 2 } })).toEqual([
      'wait',
      expect.any(String),
    ]);
  });

  test('it is refused while a partition of others holds back pods', () => {
    expect(statefulSet({ pods: ['old', 'other'] })).toEqual([
      'refuse',
      expect.stringContaining('kubectl rollout undo'),
    ]);
  });

  test('with OnDelete there is no partition to set', () => {
    const spec = { updateStrategy: { type: 'OnDelete' } };
    const onDelete = { ...target, strategy: { type: 'OnDelete' } };
    expect(statefulSet({ spec, intent: onDelete })).toEqual(
      own({}, { template: { spec: { containers: [{ name: 'app', image: 'kv:2' }] } } }),
    );
  });
});

describe('the template of a DaemonSet changes without a restart', () => {
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
  const begun = { ...target, strategy };
  const revision = (image: string, number: number, hash: string) => ({
    metadata: { labels: { 'controller-revision-hash': hash } },
    ...{ revision: number, data: { spec: { template: template(image) } } },
  });
  const daemonSet = (written: Written) =>
    words(
      planMove(
        situate('DaemonSet', {
          spec: { updateStrategy: strategy },
          revisions: [revision('kv:1', 1, 'old')],
          ...written,
        }),
        DAEMON_SET_MOVE,
      ),
    );

  test('the template changes while pods are only replaced when they are deleted', () => {
    expect(daemonSet({})).toEqual(own({ annotations: { [MOVE_INTENT]: JSON.stringify(begun) } }));
    const spec = {
      updateStrategy: { type: 'OnDelete', rollingUpdate: null },
      template: { spec: { containers: [{ name: 'app', image: 'kv:2' }] } },
    };
    expect(daemonSet({ intent: begun })).toEqual(own({}, spec));
  });

  test('pods get the labels of the newest revision, then the strategy is put back', () => {
    const annotations = { 'deprecated.daemonset.template.generation': '4' };
    const moved = { intent: begun, image: 'kv:2', annotations, spec: { updateStrategy: { type: 'OnDelete' } } };
    const revisions = [revision('kv:2', 2, 'new'), revision('kv:1', 1, 'old')];
    expect(daemonSet({ ...moved, revisions })).toMatchObject([
      ['Pod', 'web-0', { metadata: { labels: { 'controller-revision-hash': 'new', 'pod-template-generation': '4' } } }],
    ]);
    expect(daemonSet({ ...moved, annotations: {}, revisions, pods: ['new'] })).toEqual(
      own({ annotations: end }, { updateStrategy: strategy }),
    );
  });

  test('no label is set before the controller has made the revision', () => {
    const moved = { intent: begun, image: 'kv:2', spec: { updateStrategy: { type: 'OnDelete' } } };
    expect(daemonSet(moved)).toEqual(['wait', expect.any(String)]);
  });

  test('it is refused while others roll out', () => {
    expect(daemonSet({ pods: ['old', 'other'] })).toEqual(['refuse', expect.stringContaining('under way')]);
  });
});
