import { ConfigRepository } from '../../configerator/repository/repository';
import { EtcdStore } from '../../configerator/store/etcd';
import type { Inspection } from '../../configerator/store/inspection';
import type { ConfigStore } from '../../configerator/store/port';
import { conveyorError } from '../../domain/errors';
import type { ConfigRepositorySettings } from '../../settings/configRepositories';
import { storeDoor, storeSigning } from '../../settings/configStores';

/** A repository that hosts can read. */
type Readable = ConfigRepositorySettings & { readonly etcd: string };

/** The repositories of the configuration, each with its copy on this disk and its store. */
export class Repositories {
  private readonly opened = new Map<string, Promise<ConfigRepository>>();
  private readonly stores = new Map<string, EtcdStore>();
  private readonly readable: readonly Readable[];

  /** @param copies where copies are kept */
  constructor(
    private readonly all: readonly ConfigRepositorySettings[],
    private readonly file: string,
    private readonly copies: string,
  ) {
    this.readable = all.filter((one): one is Readable => one.etcd !== null);
  }

  /** The repositories that are served. */
  get names(): readonly string[] {
    return this.readable.map(({ name }) => name);
  }

  /** Repositories without a store, whose contents no host can read. */
  get unread(): readonly string[] {
    return this.all.filter(({ etcd }) => etcd === null).map(({ name }) => name);
  }

  /** Repositories whose store asks for no password. */
  get unlocked(): readonly string[] {
    return this.readable.flatMap(({ name, login }) => (login === undefined ? [name] : []));
  }

  /** Repositories whose hosts have to trust any content of their store. */
  get unsigned(): readonly string[] {
    return this.readable.flatMap(({ name, signing }) => (signing?.key === undefined ? [name] : []));
  }

  /** @throws ConveyorError `unknown-extension`, `config-invalid`, `config-repository-unusable` */
  async open(name: string): Promise<ConfigRepository> {
    const settings = this.getSettings(name);
    const opened = this.opened.get(name) ?? ConfigRepository.open(settings, this.copies);
    this.opened.set(name, opened);
    // A repository that could not be opened is tried again.
    opened.catch(() => this.opened.delete(name));
    return opened;
  }

  /** @throws ConveyorError `unknown-extension`, `config-invalid` */
  getStore(name: string): ConfigStore {
    return this.getEtcd(name);
  }

  getInspection(name: string): Inspection {
    return this.getEtcd(name).inspection;
  }

  private getEtcd(name: string): EtcdStore {
    const settings = this.getSettings(name);
    const options = { url: settings.etcd, ...storeDoor(settings), signing: storeSigning(settings) };
    const store = this.stores.get(name) ?? new EtcdStore(options);
    this.stores.set(name, store);
    return store;
  }

  private getSettings(name: string): Readable {
    const found = this.readable.find((one) => one.name === name);
    if (found !== undefined) return found;
    if (this.unread.includes(name)) throw withoutStore(name, this.file);
    throw conveyorError('unknown-extension', { kind: 'repository of configuration', name, known: this.names });
  }
}

const withoutStore = (name: string, file: string): Error =>
  conveyorError('config-invalid', { file, detail: `config.repositories.${name} has no etcd, which hosts would read` });
