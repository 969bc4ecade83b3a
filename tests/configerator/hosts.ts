import { resolveAnswer, NOTHING, withCommitted } from '../../configerator/domain/heldValue';
import type { ConfigStore } from '../../configerator/store/port';

/** A host that reads paths, without a process: it has what the store says once it `look`s. */
export class Hosts {
  readonly all: {
    readonly host: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly paths: readonly string[];
  }[] = [];
  /** Why a host refuses a value. */
  refuses: (value: string | null, host: string) => string | undefined = () => undefined;
  /** The delay of a host before it uses a value. */
  loads: (value: string | null, host: string) => string | undefined = () => undefined;
  readonly gone = new Set<string>();

  constructor(
    private readonly store: ConfigStore,
    private readonly repository: string,
  ) {}

  async join(
    host: string,
    region: string,
    paths: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    this.all.push({ host, labels: { region, ...more }, paths });
    await this.look();
  }

  /** Every host gets the value in the store, and acknowledges it. */
  async look(): Promise<void> {
    for (const { host, labels, paths } of this.all) {
      if (this.gone.has(host)) continue;
      for (const path of paths) {
        const [stored, overrides] = [
          await this.store.read(this.repository, path),
          await this.store.overrides(this.repository, path),
        ];
        const held = stored ? withCommitted(NOTHING, stored) : NOTHING;
        const answer = resolveAnswer(path, { ...held, overrides }, { name: host, labels });
        const refused = this.refuses(answer.value, host);
        const loading = this.loads(answer.value, host);
        const { version, override: revision, commit, sequence } = answer;
        await this.store.acknowledge(
          this.repository,
          {
            host,
            path,
            version,
            revision,
            commit,
            sequence,
            labels,
            at: 0,
            ...(refused === undefined ? {} : { refused }),
            ...(loading === undefined ? {} : { loading }),
          },
          60,
        );
      }
    }
  }

  /** The value of a path on each host. */
  async values(path: string): Promise<Record<string, string | null>> {
    const found: Record<string, string | null> = {};
    for (const { host, labels, paths } of this.all) {
      if (!paths.includes(path)) continue;
      const [stored, overrides] = [
        await this.store.read(this.repository, path),
        await this.store.overrides(this.repository, path),
      ];
      const held = stored ? withCommitted(NOTHING, stored) : NOTHING;
      found[host] = resolveAnswer(path, { ...held, overrides }, { name: host, labels }).value;
    }
    return found;
  }
}
