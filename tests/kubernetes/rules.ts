import { conditionOf, containersOf, imageOf, isLive, restartsOf, RuleWorld, waitingOf } from './ruleWorld';

/**
 * The rules of Kubernetes that updates in place rest on, each a story for a fake and a real control plane. The comment of a rule says why the product
 * depends on it.
 */
export interface Rule {
  readonly title: string;
  readonly story: (world: RuleWorld) => Promise<void>;
}

const equal = (actual: unknown, expected: unknown): void => expect(actual).toEqual(expected);
const ROLLING = { type: 'RollingUpdate' };
const list = (image: string, count: number, restarts = 0): string[] =>
  Array.from({ length: count }, () => `${image}/${restarts}`);

/** Sets the images of the first pods in place, and waits for them. */
async function updateInPlace(world: RuleWorld, image: string, count: number): Promise<void> {
  for (const pod of (await world.pods()).slice(0, count)) await world.setImage(pod, image);
  await world.until(`${count} pods are live on ${image}`, async () => {
    const pods = await world.pods();
    return pods.filter((pod) => isLive(pod) && imageOf(pod) === image).length === count;
  });
}

/** The completion of a Deployment: pause, the template of the live ReplicaSet, then its own template without the pause. */
async function completeDeployment(world: RuleWorld, image: string): Promise<void> {
  await world.patch('Deployment', { spec: { paused: true } });
  await world.observe('Deployment');
  const { metadata } = await world.liveSet();
  await world.setTemplate('ReplicaSet', image, {}, metadata.name);
  await world.setTemplate('Deployment', image, { paused: false });
  await world.letControllersAct('Deployment');
}

const DEPLOYMENT_RULES: readonly Rule[] = [
  {
    // The canary of chosen pods: no controller looks at the images of pods that it has.
    title: 'a ReplicaSet leaves pods alone whose images were changed in place; only their container restarts',
    story: async (world) => {
      await world.createWorkload('Deployment', { replicas: 4 });
      const before = (await world.settle(4, 'app:v1')).map(({ metadata }) => metadata.uid).sort();
      await updateInPlace(world, 'app:v2', 2);
      await world.letControllersAct('Deployment');
      equal(await world.images(), [...list('app:v1', 2), ...list('app:v2', 2, 1)]);
      equal((await world.pods()).map(({ metadata }) => metadata.uid).sort(), before);
    },
  },
  {
    // New pods of an autoscaler in mid-phase belong to the old version.
    title: 'pods that a Deployment adds in the middle of a push have the old image',
    story: async (world) => {
      await world.createWorkload('Deployment', { replicas: 2 });
      await world.settle(2);
      await updateInPlace(world, 'app:v2', 2);
      await world.patch('Deployment', { spec: { replicas: 3 } });
      await world.settle(3);
      equal(await world.images(), [...list('app:v1', 1), ...list('app:v2', 2, 1)]);
    },
  },
  {
    // The slot has to be patched again.
    title: 'a pod of a Deployment that is lost in the middle of a push comes back as another one with the old image',
    story: async (world) => {
      await world.createWorkload('Deployment', { replicas: 2 });
      const [lost] = await world.settle(2);
      await updateInPlace(world, 'app:v2', 2);
      await world.remove('Pod', lost!.metadata.name);
      await world.until('it is replaced', async () => (await world.images()).join() === 'app:v1/0,app:v2/1');
    },
  },
  {
    // An autoscaler may scale in during a push: the pods that a push has broken go first.
    title: 'a Deployment that shrinks gives up a pod that is not ready first, then the one with the lowest cost',
    story: async (world) => {
      const bad = `${world.name}:bad`;
      world.cluster.kubelet.rules.unshift({ image: new RegExp(`^${bad}$`), neverReady: true });
      await world.createWorkload('Deployment', { replicas: 4 });
      const [one, two, three, four] = (await world.settle(4)).map(({ metadata }) => metadata.name);
      await world.patch('Pod', { spec: { containers: [{ name: 'app', image: bad }] } }, two);
      const cost = { 'controller.kubernetes.io/pod-deletion-cost': '-5' };
      await world.patch('Pod', { metadata: { annotations: cost } }, three);
      await world.until('it is not ready', async () => (await world.status('Deployment'))['readyReplicas'] === 3);
      await world.patch('Deployment', { spec: { replicas: 2 } });
      const left = await world.settle(2);
      equal(
        left.map(({ metadata }) => metadata.name),
        [one, four],
      );
    },
  },
  {
    // The completion without a restart.
    title:
      'a Deployment restarts nothing if its paused ReplicaSet got the new template first; later pods have the new image',
    story: async (world) => {
      await world.createWorkload('Deployment', { replicas: 3 });
      await world.settle(3);
      await updateInPlace(world, 'app:v2', 3);
      const before = await world.identities();
      await completeDeployment(world, 'app:v2');
      equal(await world.identities(), before);
      equal((await world.sets()).length, 1);
      const { updatedReplicas, readyReplicas, conditions } = await world.status('Deployment');
      equal([updatedReplicas, readyReplicas], [3, 3]);
      equal(JSON.stringify(conditions).includes('NewReplicaSetAvailable'), true);
      await world.patch('Deployment', { spec: { replicas: 4 } });
      await world.settle(4, 'app:v2');
    },
  },
  {
    // Trap (a): without the pause the completion would undo itself.
    title:
      'a Deployment that is not paused replaces every pod by the old version once its ReplicaSet has another template',
    story: async (world) => {
      await world.createWorkload('Deployment', { replicas: 2 });
      await world.settle(2);
      await updateInPlace(world, 'app:v2', 2);
      const { metadata } = await world.liveSet();
      await world.setTemplate('ReplicaSet', 'app:v2', {}, metadata.name);
      await world.until(
        'every pod is old again',
        async () => (await world.images()).join() === list('app:v1', 2).join(),
      );
      equal((await world.sets()).length, 2);
    },
  },
  {
    // Trap (b): a crash between the steps is safe while the pause lasts, and a person who ends the pause rolls everything back.
    title:
      'a paused Deployment replaces a lost pod by the template of its ReplicaSet, and starts a rollout to its own once it is unpaused',
    story: async (world) => {
      await world.createWorkload('Deployment', { replicas: 2 });
      await world.settle(2);
      await updateInPlace(world, 'app:v2', 2);
      await world.patch('Deployment', { spec: { paused: true } });
      await world.observe('Deployment');
      await world.setTemplate('ReplicaSet', 'app:v2', {}, (await world.liveSet()).metadata.name);
      await world.remove('Pod', (await world.pods())[0]!.metadata.name);
      await world.until('it comes back new', async () => (await world.images()).join() === 'app:v2/0,app:v2/1');
      await world.patch('Deployment', { spec: { paused: false } });
      await world.until('every pod is old', async () => (await world.images()).join() === list('app:v1', 2).join());
    },
  },
  {
    // Trap (c): twins have to be removed before the completion.
    title:
      'a Deployment prefers the oldest ReplicaSet with an equal template, and replaces all pods for it; without it nothing restarts',
    story: async (world) => {
      await world.createWorkload('Deployment', { image: 'app:v2', replicas: 2 });
      await world.settle(2, 'app:v2');
      // Creation times have whole seconds, and between equal ones the name decides.
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      await world.setTemplate('Deployment', 'app:v1');
      await world.settle(2, 'app:v1');
      await updateInPlace(world, 'app:v2', 2);
      const before = await world.identities();
      await completeDeployment(world, 'app:v2');
      await world.settle(2, 'app:v2');
      await world.until(
        'all pods are replaced',
        async () => (await world.images()).join() === list('app:v2', 2).join(),
      );
      equal(
        (await world.identities()).some((one) => before.includes(one)),
        false,
      );
      // Once more, and now the twin is removed first.
      await world.setTemplate('Deployment', 'app:v3');
      await world.settle(2, 'app:v3');
      await updateInPlace(world, 'app:v2', 2);
      const kept = await world.identities();
      for (const { metadata, spec } of await world.sets())
        if (spec?.['replicas'] === 0) await world.remove('ReplicaSet', metadata.name);
      await completeDeployment(world, 'app:v2');
      equal(await world.identities(), kept);
    },
  },
  {
    // A template that comes back after a completion must not be taken for the changed one of the same name.
    title:
      'a Deployment whose ReplicaSet has another template than its name says makes another one for the old template',
    story: async (world) => {
      await world.createWorkload('Deployment', { replicas: 1 });
      await world.settle(1);
      await updateInPlace(world, 'app:v2', 1);
      await completeDeployment(world, 'app:v2');
      await world.setTemplate('Deployment', 'app:v1');
      await world.settle(1, 'app:v1');
      equal(new Set((await world.sets()).map(({ metadata }) => metadata.name)).size, 2);
    },
  },
  {
    // Trap (d): a rollout under way is seen by its numbers.
    title: 'a Deployment under way has fewer updated than desired pods, and more than one live ReplicaSet',
    story: async (world) => {
      await world.createWorkload('Deployment', { replicas: 4 });
      await world.settle(4);
      world.cluster.kubelet.rules.unshift({ image: new RegExp(`^${world.name}:bad$`), neverReady: true });
      await world.setTemplate('Deployment', `${world.name}:bad`);
      await world.until('it is under way', async () => {
        const { updatedReplicas } = await world.status('Deployment');
        const live = (await world.sets()).filter(({ spec }) => Number(spec?.['replicas']) > 0);
        return Number(updatedReplicas) > 0 && Number(updatedReplicas) < 4 && live.length === 2;
      });
      // A quarter may be unavailable: three old pods stay ready.
      equal((await world.pods()).filter((pod) => conditionOf(pod, 'Ready') === 'True').length, 3);
    },
  },
];

const STATEFUL_SET_RULES: readonly Rule[] = [
  {
    title:
      'a StatefulSet leaves pods alone whose images were changed in place, and a lost one comes back old under the same name',
    story: async (world) => {
      await world.createWorkload('StatefulSet', { replicas: 3, updateStrategy: ROLLING });
      await world.settle(3);
      await updateInPlace(world, 'app:v2', 2);
      await world.letControllersAct('StatefulSet');
      equal(await world.images(), [...list('app:v1', 1), ...list('app:v2', 2, 1)]);
      await world.remove('Pod', `${world.name}-0`);
      await world.until('it is back', async () => {
        const [first] = await world.pods();
        return first?.metadata.name === `${world.name}-0` && isLive(first) && imageOf(first) === 'app:v1';
      });
    },
  },
  {
    title: 'a StatefulSet restarts nothing if its pods carry the new revision before the partition opens',
    story: async (world) => {
      await world.createWorkload('StatefulSet', { replicas: 3, updateStrategy: ROLLING });
      await world.settle(3);
      await updateInPlace(world, 'app:v2', 3);
      const before = await world.identities();
      await world.setTemplate('StatefulSet', 'app:v2', {
        updateStrategy: { ...ROLLING, rollingUpdate: { partition: 3 } },
      });
      const { status } = await world.observe('StatefulSet');
      equal(status?.['updateRevision'] === status?.['currentRevision'], false);
      const labels = { 'controller-revision-hash': String(status?.['updateRevision']) };
      for (const pod of await world.pods()) await world.patch('Pod', { metadata: { labels } }, pod.metadata.name);
      await world.patch('StatefulSet', { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
      await world.until('the new revision is the current one', async () => {
        const { currentRevision, updateRevision } = await world.status('StatefulSet');
        return currentRevision === updateRevision;
      });
      await world.letControllersAct('StatefulSet');
      equal(await world.identities(), before);
      await world.remove('Pod', `${world.name}-1`);
      await world.until(
        'a later pod is new',
        async () => (await world.images()).join() === 'app:v2/0,app:v2/1,app:v2/1',
      );
    },
  },
  {
    // The fallback when more than an image changes: only the highest ordinals can be chosen.
    title: 'a StatefulSet updates from the highest ordinal down to its partition, and a lost pod below comes back old',
    story: async (world) => {
      await world.createWorkload('StatefulSet', {
        ...{ replicas: 3, updateStrategy: { ...ROLLING, rollingUpdate: { partition: 3 } } },
      });
      await world.settle(3);
      await world.setTemplate('StatefulSet', 'app:v2');
      await world.letControllersAct('StatefulSet');
      equal(await world.images(), list('app:v1', 3));
      await world.patch('StatefulSet', { spec: { updateStrategy: { rollingUpdate: { partition: 2 } } } });
      await world.until('the last one is new', async () => {
        const pods = await world.settle(3);
        return pods.map(imageOf).join() === 'app:v1,app:v1,app:v2';
      });
      const before = (await world.pods())[0]!.metadata.uid;
      await world.remove('Pod', `${world.name}-0`);
      await world.until('the first one is back', async () => (await world.pods())[0]?.metadata.uid !== before);
      equal((await world.settle(3)).map(imageOf), ['app:v1', 'app:v1', 'app:v2']);
    },
  },
  {
    // Why OnDelete is refused for chosen pods: it breaks the promise that others stay old.
    title: 'a StatefulSet with OnDelete brings a lost pod back on the new version, although it was not chosen',
    story: async (world) => {
      await world.createWorkload('StatefulSet', { replicas: 2, updateStrategy: { type: 'OnDelete' } });
      await world.settle(2);
      await world.setTemplate('StatefulSet', 'app:v2');
      await world.letControllersAct('StatefulSet');
      equal(await world.images(), list('app:v1', 2));
      await world.remove('Pod', `${world.name}-0`);
      await world.until('it is back new', async () => (await world.images()).join() === 'app:v1/0,app:v2/0');
    },
  },
  {
    // A revert of the template has to reach dead pods without waiting for them.
    title: 'a StatefulSet in parallel replaces outdated pods that are not ready first, whatever is unavailable',
    story: async (world) => {
      const bad = `${world.name}:bad`;
      world.cluster.kubelet.rules.unshift({ image: new RegExp(`^${bad}$`), neverReady: true });
      await world.createWorkload('StatefulSet', { replicas: 3, updateStrategy: ROLLING });
      await world.settle(3);
      for (const pod of (await world.pods()).slice(0, 2)) await world.setImage(pod, bad);
      await world.until('two are not ready', async () => {
        const pods = await world.pods();
        return pods.filter((pod) => conditionOf(pod, 'Ready') === 'False').length === 2;
      });
      await world.setTemplate('StatefulSet', 'app:v2');
      await world.settle(3, 'app:v2');
    },
  },
  {
    title: 'a StatefulSet that returns to an earlier template takes the same revision again',
    story: async (world) => {
      await world.createWorkload('StatefulSet', { replicas: 1, updateStrategy: ROLLING });
      await world.settle(1);
      const { updateRevision: first } = await world.status('StatefulSet');
      await world.setTemplate('StatefulSet', 'app:v2');
      await world.settle(1, 'app:v2');
      await world.setTemplate('StatefulSet', 'app:v1');
      await world.settle(1, 'app:v1');
      equal((await world.observe('StatefulSet')).status?.['updateRevision'], first);
    },
  },
  {
    title: 'a StatefulSet refuses a change of its other fields',
    story: async (world) => {
      await world.createWorkload('StatefulSet', { replicas: 1, updateStrategy: ROLLING });
      equal(await world.failure(world.patch('StatefulSet', { spec: { serviceName: 'other' } })), 'Invalid');
    },
  },
];

const DAEMON_SET_RULES: readonly Rule[] = [
  {
    title: 'a DaemonSet with OnDelete leaves pods alone whose images were changed in place, on one node after another',
    story: async (world) => {
      const count = world.cluster.nodes.length;
      await world.createWorkload('DaemonSet', { updateStrategy: { type: 'OnDelete' } });
      await world.settle(count);
      await updateInPlace(world, 'app:v2', 1);
      await world.letControllersAct('DaemonSet');
      equal(await world.images(), [...list('app:v1', count - 1), ...list('app:v2', 1, 1)]);
    },
  },
  {
    title: 'a DaemonSet restarts nothing if its pods carry the newest revision before it rolls',
    story: async (world) => {
      const count = world.cluster.nodes.length;
      await world.createWorkload('DaemonSet', { updateStrategy: { type: 'OnDelete' } });
      await world.settle(count);
      await updateInPlace(world, 'app:v2', count);
      const before = await world.identities();
      await world.setTemplate('DaemonSet', 'app:v2');
      const { metadata } = await world.observe('DaemonSet');
      const hash = await newestRevision(world);
      const labels = { 'controller-revision-hash': hash, 'pod-template-generation': String(metadata.generation) };
      for (const pod of await world.pods()) await world.patch('Pod', { metadata: { labels } }, pod.metadata.name);
      await world.patch('DaemonSet', { spec: { updateStrategy: { type: 'RollingUpdate' } } });
      await world.letControllersAct('DaemonSet');
      equal(await world.identities(), before);
      const { updatedNumberScheduled, numberReady } = await world.status('DaemonSet');
      equal([updatedNumberScheduled, numberReady], [count, count]);
    },
  },
  {
    title: 'a DaemonSet without those labels replaces its pods once it rolls',
    story: async (world) => {
      const count = world.cluster.nodes.length;
      await world.createWorkload('DaemonSet');
      await world.settle(count);
      const before = await world.identities();
      await world.setTemplate('DaemonSet', 'app:v2');
      await world.settle(count, 'app:v2');
      equal(
        (await world.identities()).some((one) => before.includes(one)),
        false,
      );
    },
  },
];

/** The image to which `kubectl rollout undo` would return: that of the revision before the newest. */
async function previousImage(world: RuleWorld): Promise<string | undefined> {
  const [, previous] = (await listRevisionsByAge(world)).reverse();
  const data = previous?.['data'] as { spec: { template: object } } | undefined;
  return (
    data && imageOf({ metadata: previous!.metadata, spec: (data.spec.template as { spec: object }).spec as never })
  );
}

async function listRevisionsByAge(world: RuleWorld) {
  const { items } = await world.cluster.api.list('ControllerRevision', {
    ...{ namespace: 'shop', labelSelector: `app=${world.name}` },
  });
  return [...items].sort((a, b) => Number(a['revision']) - Number(b['revision']));
}

const HISTORY_RULES: readonly Rule[] = (['StatefulSet', 'DaemonSet'] as const).map((kind) => ({
  // Pods that are replaced leave no revision behind, to which an undo would return.
  title: `a ${kind} that has its own template again restarts nothing when the revision of another is deleted, and an undo returns to the one before`,
  story: async (world) => {
    const count = kind === 'DaemonSet' ? world.cluster.nodes.length : 2;
    await world.createWorkload(kind, kind === 'DaemonSet' ? {} : { replicas: count, updateStrategy: ROLLING });
    await world.settle(count, 'app:v1');
    await world.setTemplate(kind, 'app:v2');
    await world.settle(count, 'app:v2');
    const before = await world.identities();
    await world.setTemplate(kind, 'app:v3', { updateStrategy: { type: 'OnDelete', rollingUpdate: null } });
    await world.until('there are three revisions', async () => (await listRevisionsByAge(world)).length === 3);
    const spent = (await listRevisionsByAge(world)).at(-1);
    await world.setTemplate(kind, 'app:v2');
    await world.until(
      'the second is the newest again',
      async () => (await listRevisionsByAge(world)).at(-1)?.metadata.name !== spent?.metadata.name,
    );
    equal(await previousImage(world), 'app:v3');
    await world.remove('ControllerRevision', spent?.metadata.name);
    await world.patch(kind, { spec: { updateStrategy: { type: 'RollingUpdate' } } });
    await world.letControllersAct(kind);
    equal([await world.identities(), await previousImage(world)], [before, 'app:v1']);
  },
}));

async function newestRevision(world: RuleWorld): Promise<string> {
  const newest = (await listRevisionsByAge(world)).at(-1);
  return newest?.metadata.labels?.['controller-revision-hash'] ?? '';
}

const POD_RULES: readonly Rule[] = [
  {
    // Two writers of one field: the second learns it.
    title: 'a write with a stale version is refused as a conflict, and changes nothing',
    story: async (world) => {
      await world.createWorkload('Deployment', { replicas: 1 });
      const [pod] = await world.settle(1);
      const { resourceVersion, name } = pod!.metadata;
      await world.setImage(pod!, 'app:v2');
      const patch = { metadata: { resourceVersion }, spec: { containers: [{ name: 'app', image: 'app:v3' }] } };
      equal(await world.failure(world.patch('Pod', patch, name)), 'Conflict');
      equal((await world.settle(1)).map(imageOf), ['app:v2']);
    },
  },
  {
    title: 'of a running pod only images change: environment and command are refused',
    story: async (world) => {
      await world.createWorkload('Deployment', { replicas: 1 });
      const [pod] = await world.settle(1);
      const { name } = pod!.metadata;
      for (const change of [{ env: [{ name: 'A', value: 'b' }] }, { command: ['sh'] }])
        equal(
          await world.failure(world.patch('Pod', { spec: { containers: [{ name: 'app', ...change }] } }, name)),
          'Invalid',
        );
    },
  },
  {
    // Live is: the container has started after the patch and is ready on the image, by digest.
    title:
      'a changed image restarts just its container: the same pod, one more restart, another image by digest, the neighbour untouched',
    story: async (world) => {
      const containers = [
        { name: 'app', image: 'app:v1' },
        { name: 'log', image: 'log:v1' },
      ];
      await world.createWorkload('Deployment', { replicas: 1, template: { containers } });
      const [before] = await world.settle(1);
      await updateInPlace(world, 'app:v2', 1);
      const [after] = await world.pods();
      equal(after!.metadata.uid, before!.metadata.uid);
      equal(
        containersOf(after!).map(({ name, restartCount }) => [name, restartCount]),
        [
          ['app', 1],
          ['log', 0],
        ],
      );
      const ids = (pod: typeof before): string[] => containersOf(pod!).map(({ imageID }) => imageID);
      equal([ids(after)[0] === ids(before)[0], ids(after)[1] === ids(before)[1]], [false, true]);
    },
  },
  {
    // Opt-in drain: only the push type opens the gate.
    title: 'a pod with a readiness gate is ready only while the gate is open',
    story: async (world) => {
      const gate = 'conveyor.dev/serving';
      await world.createWorkload('Deployment', {
        replicas: 1,
        template: { readinessGates: [{ conditionType: gate }] },
      });
      await world.until('its container is ready', async () => {
        const [pod] = await world.pods();
        return pod !== undefined && containersOf(pod)[0]?.ready === true;
      });
      const set = async (status: string): Promise<void> => {
        const [pod] = await world.pods();
        const condition = { type: gate, status, lastTransitionTime: new Date().toISOString().replace(/\.\d+Z$/, 'Z') };
        const ref = world.ref('Pod', pod!.metadata.name);
        await world.cluster.api.patch(
          ref,
          { status: { conditions: [condition] } },
          { type: 'strategic', subresource: 'status' },
        );
        await world.until(`it is ${status}`, async () => conditionOf((await world.pods())[0]!, 'Ready') === status);
      };
      equal(conditionOf((await world.pods())[0]!, 'Ready'), 'False');
      await set('True');
      await set('False');
      equal(restartsOf((await world.pods())[0]!), 0);
    },
  },
  {
    title:
      'an image that cannot be pulled, one that crashes and one without its configuration have their reasons in the status',
    story: async (world) => {
      const { rules } = world.cluster.kubelet;
      const named = (tag: string): RegExp => new RegExp(`^${world.name}:${tag}$`);
      rules.unshift({ image: named('missing'), pullError: true });
      rules.unshift({ image: named('crash'), crashAfterMs: 50 });
      rules.unshift({ image: named('config'), configError: true });
      await world.createWorkload('Deployment', { replicas: 3 });
      const [one, two, three] = await world.settle(3);
      await world.setImage(one!, `${world.name}:missing`);
      await world.setImage(two!, `${world.name}:crash`);
      await world.setImage(three!, `${world.name}:config`);
      const wanted = ['ImagePullBackOff', 'CrashLoopBackOff', 'CreateContainerConfigError'];
      const seen = new Set<string>();
      await world.until('each has its reason', async () => {
        for (const pod of await world.pods()) seen.add(waitingOf(pod) ?? '');
        return wanted.every((reason) => seen.has(reason));
      });
      // Back to the old image, which is free of any budget.
      for (const pod of await world.pods()) await world.setImage(pod, 'app:v1');
      await world.settle(3, 'app:v1');
    },
  },
];

const BUDGET_RULES: readonly Rule[] = [
  {
    // Budgets do not guard patches, so the push type has to ask.
    title: 'a budget allows evictions until it is used up, says so in a dry run, and then refuses as TooMany',
    story: async (world) => {
      await world.createWorkload('StatefulSet', { replicas: 3, updateStrategy: ROLLING });
      const [one, two] = await world.settle(3);
      await world.createBudget({ maxUnavailable: 1 }, 1);
      equal(await world.failure(world.evict(two!, true)), 'none');
      equal((await world.pods()).length, 3);
      world.cluster.kubelet.rules.unshift({ image: /^app:v1$/, startMs: 3_000 });
      equal(await world.failure(world.evict(one!)), 'none');
      equal(await world.failure(world.evict(two!, true)), 'TooMany');
      equal(await world.failure(world.evict(two!)), 'TooMany');
      world.cluster.kubelet.rules.shift();
      await world.settle(3);
    },
  },
  {
    title: 'a budget counts pods that anyone has made unready, and patches in place are not held up by it',
    story: async (world) => {
      const bad = `${world.name}:bad`;
      world.cluster.kubelet.rules.unshift({ image: new RegExp(`^${bad}$`), neverReady: true });
      await world.createWorkload('Deployment', { replicas: 2 });
      const [one, two] = await world.settle(2);
      await world.createBudget({ minAvailable: 1 }, 1);
      await world.setImage(one!, bad);
      await world.until(
        'no disruption is left',
        async () => (await world.status('PodDisruptionBudget'))['disruptionsAllowed'] === 0,
      );
      equal(await world.failure(world.setImage(two!, bad)), 'none');
    },
  },
  {
    // Dead pods first, free of budget.
    title: 'a budget lets a pod go that is not ready while the others suffice, although no disruption is left',
    story: async (world) => {
      const bad = `${world.name}:bad`;
      world.cluster.kubelet.rules.unshift({ image: new RegExp(`^${bad}$`), neverReady: true });
      await world.createWorkload('Deployment', { replicas: 2 });
      const [one, two] = await world.settle(2);
      await world.createBudget({ minAvailable: 1 }, 1);
      await world.setImage(one!, bad);
      await world.until('no disruption is left', async () => {
        const { disruptionsAllowed, currentHealthy } = await world.status('PodDisruptionBudget');
        return disruptionsAllowed === 0 && currentHealthy === 1;
      });
      equal(await world.failure(world.evict(two!, true)), 'TooMany');
      equal(await world.failure(world.evict(one!)), 'none');
      await world.settle(2, 'app:v1');
    },
  },
];

export const RULES: readonly Rule[] = [
  ...[DEPLOYMENT_RULES, STATEFUL_SET_RULES, DAEMON_SET_RULES, HISTORY_RULES, POD_RULES, BUDGET_RULES].flat(),
];
