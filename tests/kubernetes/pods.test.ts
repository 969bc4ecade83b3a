import { countPodRoom } from '../../push-types/kubernetes/budget';
import { resolveImage, splitImage, writeLabelValue } from '../../push-types/kubernetes/images';
import { judgePod } from '../../push-types/kubernetes/podState';
import { writePodPatch } from '../../push-types/kubernetes/podPatch';
import { POD_RECORD, readPodRecord, UPDATE_LABEL, VERSION_LABEL } from '../../push-types/kubernetes/records';
import { findContainer, explainMode, explainOldCluster, explainUnfit } from '../../push-types/kubernetes/refusals';
import { matchSelector, parseLabelSelector, writeLabelSelector } from '../../push-types/kubernetes/selectors';
import { clustersFileSchema, countUnavailable, podsConfigSchema } from '../../push-types/kubernetes/settings';
import { rankPods } from '../../push-types/kubernetes/spread';
import { viewPod, viewWorkload, type PodView } from '../../push-types/kubernetes/views';

const OLD = `kv@sha256:${'a'.repeat(64)}`;
const NEW = `kv@sha256:${'b'.repeat(64)}`;

interface Written {
  readonly image?: string;
  readonly isReady?: boolean;
  readonly status?: object;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly conditions?: readonly object[];
}

const running = { imageID: NEW, containerID: 'c2', restartCount: 1, ready: true, state: { running: {} } };

function makePod({
  image = NEW,
  isReady = true,
  status = running,
  annotations = {},
  conditions = [],
}: Written = {}): PodView {
  const pod = viewPod(
    {
      metadata: { name: 'web-0', namespace: 'shop', uid: 'u', resourceVersion: '5', annotations },
      spec: { nodeName: 'n', containers: [{ name: 'app', image }] },
      status: {
        conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }, ...conditions],
        containerStatuses: [{ name: 'app', image, ...status }],
      },
    },
    'app',
  );
  if (pod === undefined) throw new Error('a pod cannot be read');
  return pod;
}

const record = (before: object = {}, image = NEW) => ({
  [POD_RECORD]: JSON.stringify({
    ...{ update: 'u', version: 'v2', image, of: 1, whole: false, updatedBy: [] },
    before: { image: OLD, imageID: OLD, containerID: 'c1', restarts: 0, waiting: '', ...before },
  }),
});
const waiting = (reason: string, message = '', more: object = {}) => ({
  status: { ...running, state: { waiting: { reason, message } }, ...more },
  isReady: false,
});

describe('the state of a pod', () => {
  test.each<readonly [string, Written, string, string]>([
    ['runs the new image and is ready', { annotations: record() }, 'live', ''],
    ['has its image from the template', {}, 'live', ''],
    [
      'has not started the new image yet',
      { annotations: record(), status: { ...running, containerID: 'c1', restartCount: 0 } },
      'starting',
      'has not started',
    ],
    [
      'was restarted, and its node kept the old image',
      { annotations: record(), status: { ...running, imageID: OLD } },
      'starting',
      'still runs',
    ],
    [
      'reports the digest of a platform',
      { annotations: record(), status: { ...running, imageID: `kv@sha256:${'c'.repeat(64)}` } },
      'live',
      '',
    ],
    [
      'got a version with the image that it had',
      { annotations: record({ image: NEW, containerID: 'c2', restarts: 1, imageID: NEW }) },
      'live',
      '',
    ],
    ['is not ready', { annotations: record(), isReady: false }, 'starting', 'not ready'],
    [
      'cannot pull its image',
      { annotations: record(), ...waiting('ImagePullBackOff', `Back-off pulling image "${NEW}"`) },
      'failed',
      'ImagePullBackOff',
    ],
    [
      'lacks a ConfigMap',
      { annotations: record(), ...waiting('CreateContainerConfigError', 'configmap "app" not found') },
      'failed',
      'configmap "app" not found',
    ],
    [
      'crashes again and again',
      { annotations: record(), ...waiting('CrashLoopBackOff') },
      'failed',
      'CrashLoopBackOff',
    ],
    [
      'crashed before the patch, and has not been restarted',
      {
        annotations: record({ waiting: 'CrashLoopBackOff' }),
        ...waiting('CrashLoopBackOff', '', { containerID: 'c1', restartCount: 0 }),
      },
      'starting',
      'has not started',
    ],
    [
      'could not pull its image before the patch',
      {
        annotations: record({ waiting: 'ImagePullBackOff', containerID: '' }),
        ...waiting('ImagePullBackOff', 'Back-off pulling image "kv:0"', { containerID: '', restartCount: 0 }),
      },
      'starting',
      '',
    ],
    [
      'fits on no node',
      { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }] },
      'failed',
      '0/3 nodes',
    ],
  ])('one that %s', (_, written, state, reason) => {
    const judged = judgePod(makePod(written), { isNodeSilent: false, isSettled: true });
    expect(judged).toMatchObject({ state, ...(reason !== '' && { reason: expect.stringContaining(reason) }) });
  });

  test('a pod on a silent node is unreachable, whatever it last said', () => {
    expect(judgePod(makePod(), { isNodeSilent: true, isSettled: true })).toMatchObject({ state: 'unreachable' });
  });

  test('a pod counts once it has been ready for long enough', () => {
    expect(judgePod(makePod(), { isNodeSilent: false, isSettled: false })).toMatchObject({ state: 'starting' });
  });
});

describe('the patch of a pod', () => {
  test('sets image, labels and record at once, and is refused if the pod has changed since', () => {
    const pod = makePod({ image: OLD });
    const patch = writePodPatch(pod, 'app', {
      update: 'deploy/a/1/deploy/1/0/1',
      version: 'kv 2',
      image: NEW,
      of: 3,
      whole: false,
      updatedBy: [],
    });
    const { metadata, spec } = patch as {
      metadata: { resourceVersion: string; labels: object; annotations: Record<string, string> };
      spec: object;
    };
    expect(metadata.resourceVersion).toBe('5');
    expect(metadata.labels).toEqual({
      [VERSION_LABEL]: expect.stringMatching(/^kv-2-[0-9a-f]{12}$/),
      [UPDATE_LABEL]: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(readPodRecord(metadata.annotations)).toMatchObject({
      version: 'kv 2',
      of: 3,
      before: { image: OLD, containerID: 'c2', restarts: 1 },
    });
    expect(spec).toEqual({ containers: [{ name: 'app', image: NEW }] });
  });

  test('a damaged record counts as none', () => {
    expect(readPodRecord({ [POD_RECORD]: '{' })).toBeUndefined();
    expect(readPodRecord({ [POD_RECORD]: '{"update":1}' })).toBeUndefined();
  });
});

describe('the image of a version', () => {
  const digest = `sha256:${'d'.repeat(64)}`;
  const ask = {
    artifacts: [],
    repository: undefined,
    running: 'ghcr.io/acme/web:1.3',
    allowTags: false,
    version: '1.4',
  };
  test.each<readonly [string, Partial<Parameters<typeof resolveImage>[0]>, string]>([
    [
      'a digest of its artifact in the running repository',
      { artifacts: [{ version: '1.4', digest }] },
      `ghcr.io/acme/web@${digest}`,
    ],
    [
      'the repository of the artifact',
      { artifacts: [{ version: '1.4', digest, uri: 'oci://quay.io/acme/shop:1.4' }] },
      `quay.io/acme/shop@${digest}`,
    ],
    [
      'the repository of the config',
      { artifacts: [{ version: '1.4', digest }], repository: 'local:5000/web' },
      `local:5000/web@${digest}`,
    ],
    [
      'a version that is an image with a digest',
      { version: `ghcr.io/acme/web@${digest}` },
      `ghcr.io/acme/web@${digest}`,
    ],
    ['a tag where tags are permitted', { allowTags: true }, 'ghcr.io/acme/web:1.4'],
    [
      'a whole image where tags are permitted',
      { allowTags: true, version: 'local:5000/web:1.4' },
      'local:5000/web:1.4',
    ],
  ])('is %s', (_, more, image) => {
    expect(resolveImage({ ...ask, ...more })).toEqual({ image });
  });

  test('a tag is refused with what to do, since it can move', () => {
    expect(resolveImage(ask)).toEqual({ problem: expect.stringContaining('set allowTags') });
  });

  test('a text that is no image is refused', () => {
    expect(resolveImage({ ...ask, allowTags: true, version: 'a b' })).toEqual({
      problem: expect.stringContaining('no image reference'),
    });
    expect(resolveImage({ ...ask, artifacts: [{ version: '1.4', digest: 'md5:1' }] })).toEqual({
      problem: expect.stringContaining('md5:1'),
    });
  });

  test('the port of a registry is no tag', () => {
    expect(splitImage('local:5000/web')).toEqual({ repository: 'local:5000/web' });
    expect(splitImage(`local:5000/web:1@${digest}`)).toEqual({ repository: 'local:5000/web', tag: '1', digest });
  });

  test('values of labels keep within what Kubernetes permits, and differ', () => {
    const values = ['1.4', 'a b', 'a+b', 'ü', `ghcr.io/acme/web@${digest}`, '-x-'].map(writeLabelValue);
    for (const value of values) expect(value).toMatch(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/);
    expect(new Set(values).size).toBe(values.length);
  });
});

describe('the order of pods', () => {
  test('each next pod is in the zone, and on the node, with the fewest pods of the version', () => {
    const rows = [
      ['a', 'n1'],
      ['a', 'n1'],
      ['a', 'n2'],
      ['b', 'n3'],
      ['b', 'n3'],
      ['c', 'n4'],
    ] as const;
    const pods = rows.map(([zone, node], index) => ({ index, zone, node, isThere: index === 5 }));
    const order = [...rankPods(pods)].sort(([, one], [, other]) => one - other).map(([index]) => index);
    expect(order).toEqual([0, 3, 2, 4, 1]);
  });
});

describe('the budget', () => {
  const pods = (live: number, down: number) => [
    ...Array.from({ length: live }, () => ({ pod: makePod(), isLive: true })),
    ...Array.from({ length: down }, () => ({ pod: makePod({ isReady: false }), isLive: false })),
  ];
  test.each([
    ['all are in service', { size: 8, pods: pods(8, 0), budgets: [] }, 2],
    ['others have taken one out', { size: 8, pods: pods(7, 1), budgets: [] }, 1],
    ['one is missing', { size: 8, pods: pods(7, 0), budgets: [] }, 1],
    ['too many are out', { size: 8, pods: pods(5, 3), budgets: [] }, 0],
    [
      'a disruption budget allows fewer',
      { size: 8, pods: pods(8, 0), budgets: [{ name: 'web', selector: {}, allowed: 1 }] },
      1,
    ],
    [
      'a disruption budget is of other pods',
      { size: 8, pods: pods(8, 0), budgets: [{ name: 'db', selector: { matchLabels: { app: 'db' } }, allowed: 0 }] },
      2,
    ],
    [
      'a pod was patched a moment ago',
      {
        size: 8,
        pods: [...pods(7, 0), { pod: makePod(), isLive: false }],
        budgets: [{ name: 'web', selector: {}, allowed: 1 }],
      },
      0,
    ],
  ])('while %s', (_, request, room) => {
    expect(countPodRoom({ mostOut: 2, ...request }).room).toBe(room);
  });

  test('says who leaves no room', () => {
    const request = { mostOut: 2, size: 2, pods: pods(2, 0), budgets: [{ name: 'web', selector: {}, allowed: 0 }] };
    expect(countPodRoom(request).reason).toContain('the disruption budget web');
    expect(countPodRoom({ ...request, budgets: [], pods: pods(0, 2) }).reason).toContain(
      '2 of its pods are out of service',
    );
  });

  test('is a number, or a share that is rounded down and is at least one pod', () => {
    expect([countUnavailable(3, 10), countUnavailable('25%', 10), countUnavailable('25%', 3)]).toEqual([3, 2, 1]);
  });
});

describe('label selectors', () => {
  const labels = { app: 'web', tier: 'prod' };
  test.each([
    ['app=web', true],
    ['app == web,tier in (prod, test)', true],
    ['tier notin (prod)', false],
    ['tier!=test,region!=eu', true],
    ['!canary,app', true],
    ['canary', false],
  ])('%s', (text, holds) => {
    expect(parseLabelSelector(text)?.(labels)).toBe(holds);
  });

  test('a text that is none is refused', () => {
    for (const text of ['', 'a=b c', 'tier in prod', 'a=(b)']) expect(parseLabelSelector(text)).toBeUndefined();
  });

  test('that of an object is the same as text', () => {
    const selector = {
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'NotIn', values: ['test'] },
        { key: 'canary', operator: 'DoesNotExist' },
      ],
    };
    expect(parseLabelSelector(writeLabelSelector(selector))?.(labels)).toBe(true);
    expect([matchSelector(selector)(labels), matchSelector({})(labels), matchSelector(undefined)(labels)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('refusals say what to do', () => {
  const make = (spec: object = {}, metadata: object = {}, pod: object = {}) =>
    viewWorkload('Deployment', {
      metadata: { name: 'web', uid: 'w', resourceVersion: '1', ...metadata },
      spec: { ...spec, template: { spec: { containers: [{ name: 'app', image: 'kv:1' }], ...pod } } },
    });
  test.each<readonly [string, Parameters<typeof make>, string]>([
    [
      'that an operator owns',
      [{}, { ownerReferences: [{ kind: 'Rollout', name: 'web', uid: 'r' }] }],
      'deploy by that',
    ],
    ['that a person has paused', [{ paused: true }], 'kubectl rollout resume'],
    ['whose containers are not restarted', [{}, {}, { restartPolicy: 'Never' }], 'restartPolicy'],
    ['without an image', [{}, {}, { containers: [{ name: 'app' }] }], 'has no image'],
  ])('a workload %s', (_, args, reason) => {
    expect(explainUnfit(make(...args), 'app')).toContain(reason);
  });

  test('a usual workload is accepted', () => {
    expect(explainUnfit(make(), 'app')).toBeUndefined();
  });

  test('the container has to be named where there are several, and may not be an init container', () => {
    const two = make(
      {},
      {},
      {
        containers: [
          { name: 'app', image: 'a' },
          { name: 'log', image: 'b' },
        ],
        initContainers: [{ name: 'init', image: 'c' }],
      },
    );
    expect(findContainer(two, undefined)).toEqual({ problem: expect.stringContaining('write container: NAME') });
    expect(findContainer(two, 'init')).toEqual({ problem: expect.stringContaining('init container') });
    expect(findContainer(two, 'web')).toEqual({ problem: expect.stringContaining('it has app, log') });
    expect(findContainer(two, 'log')).toEqual({ container: 'log' });
  });

  test('recreate, and clusters before 1.28, are refused', () => {
    const none = { template: undefined, drain: undefined };
    expect(explainMode({ ...none, mode: 'in-place', template: {} })).toContain('write mode: recreate');
    expect(explainMode({ ...none, mode: 'recreate', drain: 1 })).toContain('leave drain out');
    expect(explainMode({ ...none, mode: 'recreate', template: {} })).toBeUndefined();
    expect(explainMode({ ...none, mode: 'in-place' })).toBeUndefined();
    expect(explainOldCluster([1, 27])).toContain('upgrade it');
    expect(explainOldCluster([1, 28])).toBeUndefined();
  });
});

describe('the settings', () => {
  test('a cluster is one of a kubeconfig, or that of this process', () => {
    const read = (cluster: object) => clustersFileSchema.safeParse({ clusters: { a: cluster } }).success;
    expect([
      read({ kubeconfig: 'k' }),
      read({ inCluster: true }),
      read({}),
      read({ kubeconfig: 'k', inCluster: true }),
    ]).toEqual([true, true, false, false]);
    expect(clustersFileSchema.parse({ clusters: { a: { kubeconfig: 'k' } } })).toMatchObject({
      allowTags: false,
      interval: 2_000,
      startTimeout: 300_000,
    });
  });

  test('a workload is named or selected, never both', () => {
    const read = (workload: object) =>
      podsConfigSchema.safeParse({ workloads: [{ kind: 'Deployment', namespace: 'shop', ...workload }] }).success;
    expect([
      read({ name: 'web' }),
      read({ selector: 'app=web' }),
      read({}),
      read({ name: 'web', selector: 'a' }),
      read({ selector: '(' }),
    ]).toEqual([true, true, false, false, false]);
  });
});
