import type { ClusterConnection } from '../../../push-types/kubernetes/client/api';
import { connectCluster } from '../../../push-types/kubernetes/client/connection';
import type { ClusterAccess, CredentialSource } from '../../../push-types/kubernetes/client/access';
import type { ClientSettings } from '../../../push-types/kubernetes/client/limits';

/** Fast enough for tests; the client of the product has the limits of CLIENT_LIMITS. */
const UNLIMITED: Partial<ClientSettings> = {
  ...{ requestsPerSecond: 100_000, inFlight: 64, firstBackOffMs: 10, mostBackOffMs: 100 },
};

export const accessTo = (url: string, credentials: CredentialSource = { kind: 'none' }): ClusterAccess => ({
  ...{
    name: 'fake',
    server: new URL(url),
    authority: undefined,
    serverName: undefined,
    namespace: 'default',
    credentials,
  },
});

/** A client of a fake server without limits of speed. */
export const connectTo = (url: string, settings: Partial<ClientSettings> = {}): ClusterConnection =>
  connectCluster(accessTo(url), { settings: { ...UNLIMITED, ...settings } });
