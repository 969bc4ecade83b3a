import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { runToEnd } from '../../hosts/runProgram';
import type { CredentialSource, ExecPlugin, PemSource } from './access';
import { CLIENT_LIMITS } from './limits';

/** The proof that one request shows to the server: a token, a client certificate, or neither. */
export interface Credential {
  readonly token?: string;
  readonly certificate?: string;
  readonly key?: string;
}

export interface CredentialMemory {
  read(): Promise<Credential>;
  /** The server refused them: those that are remembered are worth nothing. */
  forget(): void;
}

/** A plug-in is run again this long before its credentials expire, because a request takes time. */
const EXPIRY_MARGIN_MS = 10_000;

/** Files are read for each request, because their owner rotates them at any time; a plug-in runs once until its credentials expire. */
export function openCredentials(
  source: CredentialSource,
  { env, now }: { readonly env: NodeJS.ProcessEnv; readonly now: () => number },
): CredentialMemory {
  if (source.kind === 'exec') return rememberExec(source.plugin, env, now);
  return { read: () => readCredential(source), forget: () => undefined };
}

async function readCredential(source: Exclude<CredentialSource, { kind: 'exec' }>): Promise<Credential> {
  switch (source.kind) {
    case 'none':
      return {};
    case 'token':
      return { token: source.token };
    case 'tokenFile':
      return { token: (await readFile(source.file, 'utf8')).trim() };
    case 'certificate':
      return { certificate: await readPemSource(source.certificate), key: await readPemSource(source.key) };
  }
}

/** @throws Error if the file cannot be read */
export const readPemSource = async (source: PemSource): Promise<string> =>
  'text' in source ? source.text : readFile(source.file, 'utf8');

const execAnswerSchema = z.looseObject({
  kind: z.literal('ExecCredential'),
  apiVersion: z.string(),
  status: z
    .looseObject({
      token: z.string().min(1).optional(),
      clientCertificateData: z.string().optional(),
      clientKeyData: z.string().optional(),
      expirationTimestamp: z.iso.datetime({ offset: true }).nullish(),
    })
    .refine(({ token, clientCertificateData, clientKeyData }) => token ?? (clientCertificateData && clientKeyData), {
      message: 'expected a token, or a client certificate with its key',
    }),
});

interface ExecMemory {
  readonly credential: Credential;
  readonly untilMs: number;
}

function rememberExec(plugin: ExecPlugin, env: NodeJS.ProcessEnv, now: () => number): CredentialMemory {
  let known: Promise<ExecMemory> | undefined;
  const run = (): Promise<ExecMemory> => {
    const begun = runPlugin(plugin, env);
    known = begun;
    begun.catch(() => {
      if (known === begun) known = undefined;
    });
    return begun;
  };
  return {
    // Requests that come together share one run.
    read: async () => {
      const memory = await (known ?? run());
      if (memory.untilMs - EXPIRY_MARGIN_MS > now()) return memory.credential;
      known = undefined;
      return (await run()).credential;
    },
    forget: () => (known = undefined),
  };
}

async function runPlugin(plugin: ExecPlugin, env: NodeJS.ProcessEnv): Promise<ExecMemory> {
  const { apiVersion, command, args, cluster, installHint } = plugin;
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false, ...(cluster && { cluster }) } };
  const fail = (why: string): never => {
    throw new Error(`${command}, which prints the credentials of the cluster, ${why}`);
  };
  const { code, stdout, stderr } = await runToEnd([command, ...args], {
    ...{ timeoutMs: CLIENT_LIMITS.execMs, mostBytes: CLIENT_LIMITS.execBytes },
    env: { ...env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
  }).catch((error: Error) => fail(`failed: ${error.message}${installHint === undefined ? '' : `; ${installHint}`}`));
  if (code !== 0) return fail(`ended with code ${code}: ${stderr.trim().slice(-500)}`);
  const parsed = execAnswerSchema.safeParse(parseJsonText(stdout));
  // Neither the answer nor a part of it: it holds a secret.
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return fail(`printed no ExecCredential: ${issue?.path.map(String).join('.') || 'the output'}: ${issue?.message}`);
  }
  if (parsed.data.apiVersion !== apiVersion)
    return fail(`printed ${parsed.data.apiVersion}, and the kubeconfig names ${apiVersion}`);
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = parsed.data.status;
  return {
    credential: {
      ...(token !== undefined && { token }),
      ...(clientCertificateData && clientKeyData && { certificate: clientCertificateData, key: clientKeyData }),
    },
    untilMs: expirationTimestamp ? Date.parse(expirationTimestamp) : Infinity,
  };
}

function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
