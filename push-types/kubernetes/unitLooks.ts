import { isKubernetesError } from './client/errors';
import type { KubeCluster } from './kubeCluster';
import { readUnit, type KubeUnit, type UnitLook } from './unitReader';

/** The pods of a cluster count as unreachable once it has not answered for so long. */
const AWAY_MS = 60_000;

interface UnitLooksOptions {
  readonly clusters: ReadonlyMap<string, KubeCluster>;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

interface UnitTrouble {
  readonly since: number;
  readonly reason: string;
  /** The account may not look: the cluster is there, and a person has to act. */
  readonly isRight: boolean;
}

/** The last look at each unit, and why some units cannot be read at present. */
export class UnitLooks {
  private readonly looks = new Map<string, UnitLook>();
  /** Since when a unit cannot be read, and why. */
  private readonly troubles = new Map<string, UnitTrouble>();

  constructor(private readonly options: UnitLooksOptions) {}

  last(name: string): UnitLook | undefined {
    return this.looks.get(name);
  }

  /** Why a unit cannot be read at present. */
  whyAway(name: string): string | undefined {
    return this.troubles.get(name)?.reason;
  }

  /** Whether a unit could not be read for so long that deploys no longer wait for it. They do wait for a right, since its pods may well serve. */
  isLongAway(name: string): boolean {
    const trouble = this.troubles.get(name);
    return trouble !== undefined && !trouble.isRight && this.options.now() - trouble.since >= AWAY_MS;
  }

  /** Undefined if the cluster does not answer, or has no such workload any more. */
  async read(name: string, unit: KubeUnit): Promise<UnitLook | undefined> {
    const cluster = this.options.clusters.get(unit.cluster);
    try {
      if (cluster === undefined) throw new Error(`there is no cluster ${unit.cluster} in the file of the clusters`);
      const look = await readUnit(cluster.reader, unit);
      if (look === undefined)
        throw new Error(`there is no ${unit.kind} ${unit.namespace}/${unit.name} in ${unit.cluster}`);
      this.looks.set(name, look);
      this.troubles.delete(name);
      return look;
    } catch (error) {
      this.noteTrouble(name, error);
      return undefined;
    }
  }

  private noteTrouble(name: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const known = this.troubles.get(name);
    if (known?.reason !== reason) this.options.log(`${name}: ${reason}`);
    const isRight = isKubernetesError(error) && error.isMissingRight;
    // The time of a missing right does not count as an absence.
    const since = known === undefined || known.isRight ? this.options.now() : known.since;
    this.troubles.set(name, { since, reason, isRight });
  }
}
