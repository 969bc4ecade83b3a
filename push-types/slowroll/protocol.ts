import { z } from 'zod';

/** The messages between a manifest server and the agents of hosts (docs/reference/slowroll.md). */

/** The most packages of a host. */
const MOST_PACKAGES = 200;
const LONGEST_REASON = 2000;
const MOST_IDENTIFIER = 200;
const MOST_VERSION = 256;
const MOST_URI = 2048;
const DEFAULT_TIMEOUT_SECONDS = 120;
const MOST_TIMEOUT_SECONDS = 3600;
const DAY_SECONDS = 86_400;

const packageName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,99}$/, 'expected a package name such as node-exporter');
const version = z.string().min(1).max(MOST_VERSION);
/** One program with its arguments: no shell reads it. */
const programSchema = z.array(z.string()).min(1);

/** The commands of a package. Each runs in its folder, without a shell. */
export const packageInstallSchema = z.object({
  install: programSchema.optional(),
  restart: programSchema.optional(),
  health: programSchema.optional(),
  /** Runs before the package is removed. */
  stop: programSchema.optional(),
  timeoutSeconds: z.number().int().min(1).max(MOST_TIMEOUT_SECONDS).default(DEFAULT_TIMEOUT_SECONDS),
});

/** Grows with each decision of the server about a package; the same decision has the same number on all hosts. */
const generation = z.number().int().min(0);

/** A package that a host should run. */
export const manifestPackageSchema = z.object({
  name: packageName,
  version,
  /** An absolute http or https URL, or a path relative to the server. */
  uri: z.string().min(1).max(MOST_URI),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, 'expected sha256: and 64 hex digits'),
  /** In bytes. */
  size: z.number().int().min(0),
  generation,
  /** The version may be older than the one that the host runs: a release was reverted or rolled back. */
  revert: z.boolean(),
  install: packageInstallSchema.optional(),
});

/** A package that a host should no longer have. One that a manifest leaves out is kept: the server may have lost its memory. */
const manifestRemovalSchema = z.object({ name: packageName, generation, remove: z.literal(true) });

/** Everything that a host should run. */
export const hostManifestSchema = z.object({
  host: z.string().min(1),
  /** Grows with each decision of the server, also over its restarts. */
  serial: z.number().int().min(0),
  packages: z
    .array(z.union([manifestRemovalSchema, manifestPackageSchema]))
    .max(MOST_PACKAGES)
    .refine((packages) => new Set(packages.map(({ name }) => name)).size === packages.length, {
      message: 'a package is named twice',
    }),
  pollAfterSeconds: z.number().int().min(1).max(DAY_SECONDS),
});

/** The version and the identifier in the report of a package of which nothing runs. */
export const NO_VERSION = 'none';

/** Why an agent tries again. One that a server does not know counts as `other`. Tags of manifests contain places in this list, so new ones come last. */
export const TROUBLE_CAUSES = ['disk-full', 'disk', 'network', 'slow', 'server', 'other'] as const;
const CAUSE_IF_UNKNOWN = 'other';

/**
 * Work on a package that did not succeed, and is tried again: nothing has failed yet. It is a field beside `state`, so that a server that does not know it reads the rest:
 * a host that runs what it ran before.
 */
const troubleSchema = z.object({
  cause: z.enum(TROUBLE_CAUSES).catch(CAUSE_IF_UNKNOWN),
  /** The version that was to come; `NO_VERSION` for a removal. */
  version,
  reason: z.string().max(LONGEST_REASON),
});

/** The state of a package on a host. `version` and `identifier` are those that run now, else `NO_VERSION`. */
export const reportPackageSchema = z.object({
  name: packageName,
  version,
  /** Changes with each start or switch. */
  identifier: z.string().min(1).max(MOST_IDENTIFIER),
  state: z.enum(['installed', 'failed', 'rolled-back', 'removed']),
  /** The version that failed, for `failed` and `rolled-back`; `NO_VERSION` if a removal failed. */
  failedVersion: version.optional(),
  reason: z.string().max(LONGEST_REASON).optional(),
  trouble: troubleSchema.optional(),
});

/** The body of a report. */
export const hostReportSchema = z.object({ packages: z.array(reportPackageSchema).max(MOST_PACKAGES) });

export type PackageInstall = z.output<typeof packageInstallSchema>;
export type ManifestPackage = z.output<typeof manifestPackageSchema>;
/** A package that is wanted, or wanted no longer. */
export type ManifestEntry = z.output<typeof hostManifestSchema>['packages'][number];
export type Manifest = z.output<typeof hostManifestSchema>;
export type TroubleCause = (typeof TROUBLE_CAUSES)[number];
export type ReportPackage = z.output<typeof reportPackageSchema>;
export type HostReport = z.output<typeof hostReportSchema>;

/** `<keyId>:<base64 of Ed25519 over the exact bytes of the body>`. */
export const SIGNATURE_HEADER = 'conveyor-signature';
