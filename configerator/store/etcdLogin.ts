import { conveyorError } from '../../domain/errors';

/** A user of etcd. */
export interface Login {
  readonly user: string;
  readonly password: string;
}

/** The token by which etcd knows a user. It expires if it is not used for minutes, and whenever users or roles change. */
export class EtcdLogin {
  private token: Promise<string> | undefined;

  constructor(
    private readonly login: Login | undefined,
    private readonly authenticate: (login: Login) => Promise<string>,
  ) {}

  async headers(): Promise<Readonly<Record<string, string>>> {
    if (this.login === undefined) return {};
    this.token ??= this.authenticate(this.login);
    try {
      return { authorization: await this.token };
    } catch (error) {
      this.token = undefined;
      throw error;
    }
  }

  /** Whether a new token is worth a try, by the reason for which etcd refused the one in these headers. */
  isStale(detail: string, { authorization }: Readonly<Record<string, string>>): boolean {
    if (authorization === undefined || !STALE.test(detail)) return false;
    this.token = undefined;
    return true;
  }
}

const STALE = /invalid auth token|revision in header is old/i;

/** @throws ConveyorError `store-refused` */
export function requireToken(store: string, { token }: { readonly token?: unknown }): string {
  if (typeof token === 'string' && token !== '') return token;
  throw conveyorError('store-refused', { store, detail: 'it gives no token for a user and password' });
}
