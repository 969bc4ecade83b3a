import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { parseYamlText } from '../../hosts/readYamlFile';
import type { ClusterAccess, CredentialSource, ExecPlugin, PemSource } from './access';
import { CLIENT_LIMITS } from './limits';

const execFields = z.looseObject({
  apiVersion: z.enum(['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']),
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  installHint: z.string().optional(),
  interactiveMode: z.enum(['Never', 'IfAvailable', 'Always']).optional(),
  provideClusterInfo: z.boolean().optional(),
});

const kubeconfigSchema = z.looseObject({
  'current-context': z.string().optional(),
  clusters: z
    .array(
      z.looseObject({
        name: z.string(),
        cluster: z.looseObject({
          server: z.url({ protocol: /^https?$/ }),
          'certificate-authority': z.string().optional(),
          'certificate-authority-data': z.string().optional(),
          'insecure-skip-tls-verify': z.boolean().optional(),
          'tls-server-name': z.string().optional(),
          'proxy-url': z.string().optional(),
          extensions: z.array(z.looseObject({ name: z.string(), extension: z.unknown() })).nullish(),
        }),
      }),
    )
    .nullish(),
  users: z
    .array(
      z.looseObject({
        name: z.string(),
        user: z.looseObject({
          token: z.string().optional(),
          tokenFile: z.string().optional(),
          'client-certificate': z.string().optional(),
          'client-certificate-data': z.string().optional(),
          'client-key': z.string().optional(),
          'client-key-data': z.string().optional(),
          username: z.string().optional(),
          exec: execFields.optional(),
          'auth-provider': z.unknown().optional(),
        }),
      }),
    )
    .nullish(),
  contexts: z
    .array(
      z.looseObject({
        name: z.string(),
        context: z.looseObject({ cluster: z.string(), user: z.string().optional(), namespace: z.string().optional() }),
      }),
    )
    .nullish(),
});

type Kubeconfig = z.output<typeof kubeconfigSchema>;
type ContextFields = NonNullable<Kubeconfig['clusters']>[number]['cluster'];
type UserFields = NonNullable<Kubeconfig['users']>[number]['user'];

/** Reads a kubeconfig of a file. @throws Error that names the file and the mistake */
export function readKubeconfig(file: string, context?: string): ClusterAccess {
  const { size } = statSync(file);
  if (size > CLIENT_LIMITS.kubeconfigBytes)
    throw new Error(`${file} has ${size} bytes, more than ${CLIENT_LIMITS.kubeconfigBytes}`);
  return parseKubeconfig(readFileSync(file, 'utf8'), { place: file, folder: dirname(resolve(file)), context });
}

interface KubeconfigPlace {
  /** For messages. */
  readonly place: string;
  /** The one that relative paths start from. */
  readonly folder: string;
  readonly context?: string | undefined;
}

/** The access that a context describes, by default the current one. @throws Error that names the mistake */
export function parseKubeconfig(text: string, { place, folder, context }: KubeconfigPlace): ClusterAccess {
  const fail = (why: string): never => {
    throw new Error(`${place}: ${why}`);
  };
  const parsed = kubeconfigSchema.safeParse(parseYamlText(text, place) ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return fail(`${issue?.path.map(String).join('.') || 'the file'}: ${issue?.message}`);
  }
  const { contexts, clusters, users, 'current-context': current } = parsed.data;
  const name = context ?? current ?? '';
  const found = contexts?.find((one) => one.name === name)?.context;
  if (found === undefined) {
    const known = contexts?.map((one) => one.name).join(', ') || 'none';
    return fail(
      name === '' ? `it has no current-context; name one of: ${known}` : `no context ${name}, only: ${known}`,
    );
  }
  const cluster = clusters?.find((one) => one.name === found.cluster)?.cluster;
  if (cluster === undefined) return fail(`context ${name}: there is no cluster ${found.cluster}`);
  const user = found.user === undefined ? {} : users?.find((one) => one.name === found.user)?.user;
  if (user === undefined) return fail(`context ${name}: there is no user ${found.user}`);
  const refused = whyRefused(cluster, user);
  if (refused !== undefined) return fail(`context ${name}: ${refused}`);
  return {
    ...{ name, server: new URL(cluster.server), serverName: cluster['tls-server-name'] },
    authority: findPem(cluster, 'certificate-authority', folder),
    namespace: found.namespace ?? 'default',
    credentials: chooseCredentials(cluster, user, folder),
  };
}

function whyRefused(cluster: ContextFields, user: UserFields): string | undefined {
  const { hostname, protocol } = new URL(cluster.server);
  if (cluster['insecure-skip-tls-verify'])
    return 'insecure-skip-tls-verify would give our credentials to any server; use certificate-authority-data instead';
  if (cluster['proxy-url'] !== undefined) return 'proxy-url is not supported; use an address that is reached directly';
  if (protocol === 'http:' && !/^(localhost|127\.|\[::1\]$)/.test(hostname))
    return `${cluster.server} has no TLS, which is permitted only for this machine`;
  if (user['auth-provider'] !== undefined)
    return 'auth-provider was removed from Kubernetes in 1.26; use an exec plug-in (kubelogin, gke-gcloud-auth-plugin, …)';
  if (user.username !== undefined) return 'no supported version of Kubernetes accepts a user name and a password';
  if (user.exec?.interactiveMode === 'Always')
    return `${user.exec.command} wants a terminal (interactiveMode: Always), and a service has none`;
  return undefined;
}

/** In the order of kubectl: a certificate, then a token, then its file, then the plug-in. */
function chooseCredentials(cluster: ContextFields, user: UserFields, folder: string): CredentialSource {
  const certificate = findPem(user, 'client-certificate', folder);
  const key = findPem(user, 'client-key', folder);
  if (certificate && key) return { kind: 'certificate', certificate, key };
  if (user.tokenFile !== undefined) return { kind: 'tokenFile', file: resolve(folder, user.tokenFile) };
  if (user.token !== undefined) return { kind: 'token', token: user.token };
  if (user.exec === undefined) return { kind: 'none' };
  const { apiVersion, command, args, env, installHint, provideClusterInfo } = user.exec;
  const plugin: ExecPlugin = {
    ...{ apiVersion, installHint, args: args ?? [] },
    command: command.includes('/') ? resolve(folder, command) : command,
    env: Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
    cluster: provideClusterInfo ? describeCluster(cluster) : undefined,
  };
  return { kind: 'exec', plugin };
}

/** The cluster in the form that plug-ins read. */
function describeCluster(cluster: ContextFields): Readonly<Record<string, unknown>> {
  const config = cluster.extensions?.find((one) => one.name === 'client.authentication.k8s.io/exec')?.extension;
  return {
    ...{ server: cluster.server, 'certificate-authority-data': cluster['certificate-authority-data'] },
    ...{ 'tls-server-name': cluster['tls-server-name'], config },
  };
}

function findPem(
  fields: Readonly<Record<string, unknown>>,
  name: 'certificate-authority' | 'client-certificate' | 'client-key',
  folder: string,
): PemSource | undefined {
  const [data, file] = [fields[`${name}-data`], fields[name]];
  if (typeof data === 'string') return { text: Buffer.from(data, 'base64').toString('utf8') };
  return typeof file === 'string' ? { file: resolve(folder, file) } : undefined;
}

const ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The account of the pod in which this process runs. @throws Error outside of a cluster */
export function readInClusterAccess(env: NodeJS.ProcessEnv, folder: string = ACCOUNT_FOLDER): ClusterAccess {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port)
    throw new Error(
      'this process runs in no pod (KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set): name a kubeconfig',
    );
  return {
    ...{ name: 'in-cluster', server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`) },
    ...{ authority: { file: resolve(folder, 'ca.crt') }, serverName: undefined },
    namespace: readFileSync(resolve(folder, 'namespace'), 'utf8').trim(),
    credentials: { kind: 'tokenFile', file: resolve(folder, 'token') },
  };
}
