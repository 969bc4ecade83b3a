import { ConveyorError } from '../../domain/errors';
import { EtcdApi, type EtcdOptions } from './etcdApi';
import { Keys } from './etcdKeys';
import { scan } from './etcdScan';
import { ADMINISTRATOR, permissionText, type LockStep, type PresentUsers, type RawPermission } from './lockPlan';

/** The users and roles of etcd, and access for its administrator: with a password once it is locked. */
export class EtcdLock {
  private readonly api: EtcdApi;
  private readonly open: EtcdApi;

  constructor({ login: _login, ...options }: EtcdOptions, rootPassword: string) {
    this.open = new EtcdApi(options);
    this.api = new EtcdApi({ ...options, login: { user: ADMINISTRATOR, password: rootPassword } });
  }

  /** @throws ConveyorError `store-refused` if the administrator has another password */
  async present(repository: string): Promise<PresentUsers> {
    const isLocked = await this.isLocked();
    const api = isLocked ? this.api : this.open;
    const { roles: roleNames = [] } = await api.ask<{ roles?: string[] }>('/v3/auth/role/list', {});
    const { users: userNames = [] } = await api.ask<{ users?: string[] }>('/v3/auth/user/list', {});
    const roles: Record<string, readonly string[]> = {};
    for (const role of roleNames) {
      const { perm = [] } = await api.ask<{ perm?: RawPermission[] }>('/v3/auth/role/get', { role });
      roles[role] = perm.map(permissionText);
    }
    const users: Record<string, readonly string[]> = {};
    for (const name of userNames)
      users[name] = (await api.ask<{ roles?: string[] }>('/v3/auth/user/get', { name })).roles ?? [];
    const keys = new Keys(repository);
    const named = (await scan(api, { ...keys.named, keysOnly: true })).map(({ key }) => keys.parseNameKey(key));
    return { roles, users, named, isLocked };
  }

  async take({ path, body }: LockStep, isLocked: boolean): Promise<void> {
    await (isLocked ? this.api : this.open).ask(path, body);
  }

  private async isLocked(): Promise<boolean> {
    try {
      await this.open.range({ key: LOOKED_AT, limit: 1 });
      return false;
    } catch (error) {
      if (error instanceof ConveyorError && /user name is empty/.test(error.message)) return true;
      throw error;
    }
  }
}

const LOOKED_AT = '/conveyor/config';
