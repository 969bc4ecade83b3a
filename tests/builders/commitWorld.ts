import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommitFleet } from '../../push-types/git-commit/commitFleet';
import type { LandingStep } from '../../push-types/git-commit/landing';
import { gitCommitPushType } from '../../push-types/git-commit/pushType';
import type { GitCommitSettings } from '../../push-types/git-commit/settings';
import { observe, type Observation, type WatchedPlace, type Watcher } from '../../push-types/git-commit/watcher';
import { callExtension, viaApp, type ExtensionCall } from '../../sdk/client';
import { judgeTargets } from '../../sdk/health';
import { pushTypeProtocol, type PushTypeProtocol } from '../../sdk/protocol/pushType';
import type { RequestInput, ResponseOf } from '../../sdk/protocol/common';
import { Memory } from '../../sdk/updates';
import { FakeBranch } from './fakeBranch';

const IMAGE = 'registry.example.com/web';
export const CONFIG = {
  ...{ service: 'web', repository: 'deployments', path: 'clusters/{cluster}/kustomization.yaml' },
  ...{ field: { kustomize: IMAGE }, environments: ['eu', 'us'] },
};

const fileWith = (version: string): string =>
  `# of a cluster\nresources: [../base]\nimages:\n  - name: ${IMAGE} # ours\n    newTag: ${version}\n`;

/** Clusters over a branch in memory, under the real push type, which tests stop, start again, and rob of its memory. */
export class CommitWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'conveyor-commits-'));
  readonly branch: FakeBranch;
  readonly logged: string[] = [];
  now = 1_800_000_000_000;
  onStep: (step: LandingStep) => void = () => undefined;
  /** The answer about a cluster; by default Argo CD has synced it to the newest commit, and versions that begin with dead are degraded. */
  answer: (place: WatchedPlace) => Observation | { readonly revision: string } = () => ({ revision: this.branch.tip });
  fleet: CommitFleet;
  private calls = 0;

  constructor(
    readonly clusters: Readonly<Record<string, readonly string[]>>,
    private readonly options: { readonly atOnce?: number; readonly timeout?: number } = {},
  ) {
    const names = Object.values(clusters).flat();
    this.branch = new FakeBranch(Object.fromEntries(names.map((name) => [pathFor(name), fileWith('1')])));
    this.fleet = this.open();
  }

  /** The push type begins, or begins anew after a crash. */
  open(): CommitFleet {
    const watcher: Watcher = async (place, check) => {
      const answer = this.answer(place);
      if ('state' in answer) return answer;
      const why = await check(answer.revision);
      if (why !== undefined) return observe('waiting', why);
      return place.version.startsWith('dead') ? observe('failed', 'Degraded: it crashes') : observe('live', 'healthy');
    };
    this.fleet = new CommitFleet({
      ...{ memory: new Memory(join(this.folder, 'state.json')), settings: this.settings() },
      ...{ branches: new Map([['deployments', this.branch]]), watcher: () => watcher, now: () => this.now },
      log: (line) => this.logged.push(line),
      onStep: (step) => this.onStep(step),
    });
    return this.fleet;
  }

  /** The memory is gone; Git is not. */
  lose(): void {
    rmSync(join(this.folder, 'state.json'), { force: true });
    this.open();
  }

  get app() {
    return gitCommitPushType(this.fleet, {
      judge: (request) => judgeTargets({ ...request, query: () => Promise.resolve({ series: [] }) }),
    });
  }

  /** A call of Conveyor for a deploy of this release. */
  call<M extends keyof PushTypeProtocol & string>(
    method: M,
    request: RequestInput<PushTypeProtocol[M]>,
    { release = 12, config = CONFIG, pipeline = 'shop' }: { release?: number; config?: object; pipeline?: string } = {},
  ): Promise<ResponseOf<PushTypeProtocol[M]>> {
    const context = { pipeline, release, deployId: nameDeploy(release), actor: 'user:alice', config: { ...config } };
    const call = {
      service: { name: 'git-commit', url: 'http://git-commit', timeoutMs: 10_000 },
      protocol: pushTypeProtocol,
      method,
      request,
      context,
    };
    const key = `key ${(this.calls += 1)}`;
    return callExtension({ ...call, key, fetch: viaApp(this.app) } as unknown as ExtensionCall<PushTypeProtocol, M>);
  }

  /** Sends an update of whole units. */
  async push(
    updateId: string,
    version: string,
    units: readonly string[] = ['web-eu'],
    rest: object = {},
  ): Promise<void> {
    const targets = units.map((unit) => ({ unit, version, artifacts: [], ...rest }));
    const urgency = 'updatedBy' in rest ? 'revert' : 'normal';
    const release = Number(updateId.split('/')[2]);
    await this.call('executeUpdates', { updateId, wholeUnit: false, urgency, targets }, { release });
  }

  /** Rounds until nothing is left to do; time passes. */
  async settle(most = 40): Promise<void> {
    for (let round = 0; round < most; round += 1) {
      this.now += 60_000;
      if (!(await this.fleet.step('deployments'))) return;
    }
  }

  async step(passed = 1_000): Promise<boolean> {
    this.now += passed;
    return this.fleet.step('deployments');
  }

  async progress(updateId: string, unit = 'web-eu') {
    return (await this.call('trackUpdates', { updateId })).units.find(({ id }) => id === unit);
  }

  /** The tag in the file of each cluster. */
  tags(unit: string): string[] {
    return (this.clusters[unit] ?? []).map(
      (name) => /newTag: "?([^"\n]*)/.exec(this.branch.text(pathFor(name)))?.[1] ?? '',
    );
  }

  edit(cluster: string, version: string, author = 'bob'): string {
    return this.branch.edit({ [pathFor(cluster)]: fileWith(version) }, `Use ${version}`, author);
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private settings(): GitCommitSettings {
    const wait = { program: ['true'], settle: 0, timeout: this.options.timeout ?? 900_000, answer: 1_000 };
    const environments = Object.entries(this.clusters).map(([name, clusters]) => [
      name,
      { labels: { region: name }, clusters: [...clusters], atOnce: this.options.atOnce ?? 1, wait },
    ]);
    const repository = {
      ...{ url: 'file:///none', branch: 'main', knownHosts: '', user: 'git', paths: ['**'], timeout: 1_000 },
      committer: { name: 'Conveyor', email: 'conveyor@example.com' },
    };
    return {
      repositories: { deployments: repository },
      environments: Object.fromEntries(environments),
      interval: 0,
      idle: 0,
    };
  }
}

export const pathFor = (cluster: string): string => `clusters/${cluster}/kustomization.yaml`;
export const nameDeploy = (release: number): string => `deploy/shop/${release}/deploy/1`;
