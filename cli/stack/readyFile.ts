import { replaceFileSync } from '../../sdk/replaceFile';
import type { ConfigStack } from './configuration';
import type { PartName } from './parts';
import type { Stack } from './stack';

/** The ready file (docs/reference/cli.md#the-development-stack). */
export interface Ready {
  readonly temporal: string;
  readonly webUi: string;
  readonly simulator: string;
  readonly server: string;
  readonly taskQueue: string;
  /** Only with `--config`. */
  readonly etcd?: string;
  readonly configService?: string;
  readonly configProxy?: string;
  readonly configRepository?: string;
  /** The processes that `dev` started. */
  readonly pids: Readonly<Partial<Record<PartName, number>>>;
}

export const toReady = ({ addresses, config, pids }: Stack): Ready => ({
  ...addresses,
  ...(config && configReady(config)),
  pids: pids(),
});

const configReady = ({ repository, service, proxy }: ConfigStack) => ({
  ...{ etcd: repository.etcd, configService: service, configProxy: proxy, configRepository: repository.git },
});

/** Written atomically, so that readers never see half a file. */
export function writeReady(file: string, ready: Ready): void {
  replaceFileSync(file, `${JSON.stringify(ready, null, 2)}\n`, { mode: 0o600 });
}
