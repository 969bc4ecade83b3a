import { z } from 'zod';
import { packageInstallSchema } from '../protocol';

/** The facts that an agent has to know after a crash (docs/adr/0083-an-agent-is-one-file.md). The link `current` is the only other one. */

/** The name of the package that is the agent itself. */
export const AGENT_PACKAGE = 'conveyor-agent';

const releaseSchema = z.object({
  version: z.string(),
  generation: z.number(),
  digest: z.string(),
  /** Its folder below `releases/`. */
  folder: z.string(),
  install: packageInstallSchema.optional(),
});

const stepFields = {
  target: releaseSchema,
  /** The folder to which `current` led before; null for the first version. */
  before: z.string().nullable(),
  revert: z.boolean(),
  /** How often the step has begun. */
  begins: z.number(),
};

/** `install` brings the target; `restore` brings back the folder of before. A step that a crash interrupted begins again. */
const stepSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('install'), ...stepFields }),
  z.object({ kind: z.literal('restore'), ...stepFields, reason: z.string() }),
]);

const failureSchema = z.object({
  state: z.enum(['failed', 'rolled-back']),
  version: z.string(),
  generation: z.number(),
  digest: z.string(),
  reason: z.string(),
});

const packageStateSchema = z.object({
  /** The highest that was accepted. */
  generation: z.number(),
  runs: releaseSchema.extend({ identifier: z.string() }).optional(),
  /** Releases on the disk that ran, the newest first. */
  releases: z.array(releaseSchema),
  /** Versions that ran before a newer one, the oldest first. They return only with a revert. */
  superseded: z.array(z.string()),
  step: stepSchema.optional(),
  /** The version that failed last. It is not tried again with the same generation. */
  failure: failureSchema.optional(),
  /** A manifest has taken the package away; `begun` until nothing of it is on the disk. */
  removal: z.enum(['begun', 'done']).optional(),
});

export const agentStateSchema = z.object({
  format: z.literal(1),
  host: z.string(),
  /** The highest that was accepted. */
  serial: z.number(),
  packages: z.record(z.string(), packageStateSchema),
});

export type PackageRelease = z.output<typeof releaseSchema>;
export type InstallStep = z.output<typeof stepSchema>;
export type PackageState = z.output<typeof packageStateSchema>;
export type AgentState = z.output<typeof agentStateSchema>;

export const emptyAgentState = (host: string): AgentState => ({ format: 1, host, serial: 0, packages: {} });

const NO_PACKAGE: PackageState = { generation: 0, releases: [], superseded: [] };

/** The state of a package, also of one that was never here. */
export const getPackage = (state: AgentState, name: string): PackageState => state.packages[name] ?? NO_PACKAGE;

export const setPackage = (state: AgentState, name: string, next: PackageState): AgentState => ({
  ...state,
  packages: { ...state.packages, [name]: next },
});
