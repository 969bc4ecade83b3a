import type { Artifact } from '../../domain/artifact';
import { callExtension } from '../../sdk/client';
import type { RequestInput, ResponseOf } from '../../sdk/protocol/common';
import { pushTypeProtocol, type PushTypeProtocol } from '../../sdk/protocol/pushType';
import type { KubeWorld } from './kubeWorld';

/** Sends what deploys send to the push type. */
export class KubeDeploys {
  private tries = 0;

  constructor(
    private readonly world: KubeWorld,
    private readonly release = 1,
  ) {}

  call<M extends keyof PushTypeProtocol & string>(
    method: M,
    request: RequestInput<PushTypeProtocol[M]>,
    key: string = method,
    config: Readonly<Record<string, unknown>> = this.world.config,
  ): Promise<ResponseOf<PushTypeProtocol[M]>> {
    const deployId = `deploy/shop/${this.release}/deploy/1`;
    const context = { pipeline: 'shop', release: this.release, deployId, actor: 'user:alice', config: { ...config } };
    return callExtension<PushTypeProtocol, M>({
      service: { name: 'kubernetes', url: 'http://kubernetes', timeoutMs: 30_000 },
      ...{ protocol: pushTypeProtocol, method, context, key, fetch: this.world.serve(), request: request as never },
    });
  }

  /** The update id of one more try. */
  nameUpdate(phase: string): string {
    this.tries += 1;
    return `deploy/shop/${this.release}/deploy/1/${phase}/${this.tries}`;
  }

  async push(
    name: string,
    version: string,
    more: {
      readonly count?: number;
      readonly whole?: boolean;
      readonly updatedBy?: readonly string[];
      readonly id?: string;
      readonly artifacts?: readonly Artifact[];
    } = {},
  ): Promise<string> {
    const { count, whole = false, updatedBy, artifacts = [] } = more;
    const id = more.id ?? this.nameUpdate(updatedBy ? 'revert' : '0');
    const target = {
      ...{ unit: this.world.unit(name), version, artifacts: [...artifacts] },
      ...(updatedBy
        ? { updatedBy: [...updatedBy] }
        : { amount: count === undefined ? { all: true as const } : { count } }),
    };
    const request = {
      updateId: id,
      targets: [target],
      wholeUnit: whole,
      urgency: updatedBy ? ('revert' as const) : ('normal' as const),
    };
    await this.call('executeUpdates', request, id);
    return id;
  }

  async track(updateId: string) {
    const { units } = await this.call('trackUpdates', { updateId });
    return units[0];
  }

  async unit(name: string) {
    const { units } = await this.call('fetchDeployUnits', {});
    return units.find(({ id }) => id === this.world.unit(name));
  }
}
