import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { SLOWROLL_LIMITS } from '../../../sdk';
import { readYamlFile } from '../../hosts/readYamlFile';
import { packageInstallSchema } from '../protocol';

/** The file of `conveyor push-type slowroll --settings FILE` (docs/reference/slowroll.md). */

const UNITS_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `30m`, in seconds. */
const period = (text: string) =>
  z
    .string()
    .regex(/^\d{1,6}[smhd]$/, 'expected a duration such as 30s, 30m or 2h')
    .default(text)
    .transform((written) => Number.parseInt(written, 10) * (UNITS_S[written.slice(-1)] ?? 1));

const nameWord = z
  .string()
  .max(SLOWROLL_LIMITS.name.max)
  .regex(/^[a-z0-9][a-z0-9._-]*$/, 'expected small letters, digits, dots, dashes and underscores');
const percentage = z.string().regex(/^\d{1,2}(\.\d{1,3})?%$/, 'expected a percentage such as 1%');

const packageFields = z.strictObject({
  /** A path, or an http URL, with one archive a version: `{version}` is replaced. */
  from: z.string().includes('{version}', { message: 'expected {version} in it, such as ./agent-{version}.tar.gz' }),
  /** The hosts that have the package; all if it is left out. */
  hosts: z.record(z.string().min(1), z.string()).default({}),
  /** The same hosts go first in every release. */
  sticky: z.boolean().default(false),
  /** The percentage of the hosts of an update that may fail; one more ends it. */
  failures: percentage.default('1%').transform((text) => Number.parseFloat(text) / 100),
  commands: packageInstallSchema.strict().optional(),
});

const settingsSchema = z.strictObject({
  /** The label whose value is the region of a host. */
  regionLabel: z.string().min(1).default('region'),
  regions: z.array(nameWord).min(1).max(SLOWROLL_LIMITS.regions.max),
  packages: z
    .record(nameWord.max(100), packageFields)
    .refine((packages) => Object.keys(packages).length > 0, 'expected a package')
    .refine((packages) => Object.keys(packages).length <= SLOWROLL_LIMITS.packages.max, {
      message: `more than ${SLOWROLL_LIMITS.packages.max} packages`,
    }),
  /** Hosts ask so often. */
  pollAfter: period('30m').refine((seconds) => seconds >= 1 && seconds <= 86_400, 'expected 1s to 1d'),
  /** A host that has not polled for so long is unreachable; three polls if it is left out. */
  silence: period('0s'),
  /** One line a host: its name and its token. */
  tokens: z.string().optional(),
  /** An Ed25519 key in PEM that signs manifests. */
  signingKey: z.string(),
  /** The server's own certificate, and the authority of the certificates of hosts. */
  tls: z.strictObject({ certificate: z.string(), key: z.string(), hosts: z.string().optional() }).optional(),
  mostHosts: z.number().int().min(1).max(SLOWROLL_LIMITS.hosts.max).default(SLOWROLL_LIMITS.hosts.max),
  fetchTimeout: period('10m'),
});

/** The file with all defaults; its paths are absolute, and its durations in seconds. */
export type SlowrollSettings = z.output<typeof settingsSchema>;

/** @throws Error that names the place of the mistake */
export function readSlowrollSettings(path: string): SlowrollSettings {
  const parsed = settingsSchema.safeParse(readYamlFile(path, SLOWROLL_LIMITS.settings.max));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${path}: ${issue?.path.map(String).join('.') || 'the file'}: ${issue?.message}`);
  }
  const { data } = parsed;
  if (data.tokens === undefined && data.tls?.hosts === undefined)
    throw new Error(
      `${path}: tokens: hosts need tokens, or certificates (tls.hosts): any machine could poll as any host`,
    );
  return makeAbsolute(data, dirname(path));
}

function makeAbsolute(data: SlowrollSettings, folder: string): SlowrollSettings {
  const locate = (path: string): string => (/^https?:/.test(path) ? path : resolve(folder, path));
  const { tls, tokens, packages } = data;
  return {
    ...data,
    ...(tokens !== undefined && { tokens: locate(tokens) }),
    signingKey: locate(data.signingKey),
    silence: data.silence === 0 ? 3 * data.pollAfter : data.silence,
    packages: Object.fromEntries(
      Object.entries(packages).map(([name, one]) => [name, { ...one, from: locate(one.from) }]),
    ),
    ...(tls && {
      tls: {
        ...{ certificate: locate(tls.certificate), key: locate(tls.key) },
        ...(tls.hosts !== undefined && { hosts: locate(tls.hosts) }),
      },
    }),
  };
}
