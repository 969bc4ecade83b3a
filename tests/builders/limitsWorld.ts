import type { Artifact } from '../../domain/artifact';
import { ARTIFACT_LIMITS, REQUEST_LIMITS, SPEC_LIMITS, STATE_LIMITS } from '../../domain/limits';
import type { SnapshotUnit } from '../../domain/deploy/snapshot';
import type { DeployResult } from '../../domain/deploy/state';
import { NO_TIME } from '../../domain/deploy/spans';
import { pipelineSchema, type PipelineSource, type PipelineSpec } from '../../domain/spec/pipeline';
import { firstWithin, jsonBytes } from '../../domain/size';

/** Everything at the maximum size that is accepted. */

export const long = (bytes: number, prefix = ''): string => prefix + 'x'.repeat(bytes - prefix.length);

export const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

/** A name of 63 characters. */
export const nameOf = (kind: string, n: number): string => `${kind}-${n}-`.padEnd(62, 'x') + 'z';

/** Identities of artifacts have the maximum length; metadata fill the artifact up to this many bytes. */
export function largeArtifact(name: string, n: number, bytes: number = ARTIFACT_LIMITS.whole.max): Artifact {
  const { kind, version, digest, uri } = ARTIFACT_LIMITS;
  const bare = {
    name,
    kind: long(kind.max),
    version: long(version.max, `${n}-`),
    digest: long(digest.max, `sha512:${n}-`),
    uri: long(uri.max, 's3://'),
    metadata: {} as Record<string, string>,
  };
  const room = Math.min(bytes - jsonBytes(bare), ARTIFACT_LIMITS.metadata.max) - 2;
  if (room < 0) return { ...bare, uri: 's3://' };
  const values = Math.min(2, Math.max(1, Math.floor(room / 500)));
  for (const index of range(values)) bare.metadata[`k${index}`] = long(Math.min(1000, Math.floor(room / values) - 12));
  return bare;
}

const inputs = range(SPEC_LIMITS.artifacts.max).map((n) => nameOf('input', n));
const groups = range(SPEC_LIMITS.mutex.max).map((n) => nameOf('group', n));

/** A pipeline with as many of everything as lint accepts. */
export function largeSpec(more: Partial<PipelineSource> = {}): PipelineSpec {
  const deploys = SPEC_LIMITS.deployInputs.max;
  const others = SPEC_LIMITS.actions.max - deploys;
  const mutex = groups.slice(0, SPEC_LIMITS.actionMutex.max);
  return pipelineSchema.parse({
    pipeline: nameOf('pipeline', 0),
    owners: range(SPEC_LIMITS.owners.max).map((n) => `user:${long(30, `${n}-`)}`),
    labels: Object.fromEntries(range(SPEC_LIMITS.labels.max).map((n) => [long(15, `${n}-`), long(20)])),
    description: long(SPEC_LIMITS.description.max),
    artifacts: Object.fromEntries(inputs.map((name) => [name, { finder: 'commits' }])),
    mutex: Object.fromEntries(groups.map((name) => [name, {}])),
    releases: { maxActive: SPEC_LIMITS.maxActive.max, supersede: 'never' },
    actions: Object.fromEntries([
      ...range(deploys).map((n) => [
        nameOf('deploy', n),
        {
          type: 'deploy',
          inputs: [inputs[n]],
          mutex,
          with: { pushType: 'twine', config: n === 0 ? { x: long(9_000) } : {} },
        },
      ]),
      ...range(others).map((n) => [nameOf('pick', n), { type: 'manual-pick', mutex }]),
    ]) as PipelineSource['actions'],
    ...more,
  });
}

export const largeVersion = (n: number): string => long(ARTIFACT_LIMITS.version.max, `${n}-`);

/** The artifacts of a release of it, with the maximum total size. */
export const largeArtifacts = (n: number): readonly Artifact[] =>
  inputs.map((name) => largeArtifact(name, n, Math.floor(REQUEST_LIMITS.artifactsTogether.max / inputs.length) - 2));

export const deployNames = (spec: PipelineSpec): readonly string[] =>
  Object.entries(spec.actions).flatMap(([name, { type }]) => (type === 'deploy' ? [name] : []));

const units = (n: number, prefix: string): readonly string[] => range(n).map((unit) => long(40, `${prefix}-${unit}-`));

/** As many units as a snapshot holds itself, instead of a reference to pages. */
const inlineUnits: readonly SnapshotUnit[] = firstWithin(
  units(500, 'unit').map((id) => ({
    ...{ id, version: long(100), mixed: false, available: true, size: 1000, labels: { region: long(20) } },
  })),
  16_384,
);

/** The result of a deploy of ten thousand units that left many out, and others on another version. */
export const largeResult = (outcome: DeployResult['outcome'], n: number): DeployResult => ({
  outcome,
  classification: outcome === 'succeeded' ? 'success' : 'good-failure',
  version: long(4_000, `${n}-`),
  reason: long(5_000),
  reverted: outcome === 'reverted' ? { by: 'health', bad: true } : null,
  spans: NO_TIME,
  skipped: units(500, 'skipped'),
  beforeEach: long(STATE_LIMITS.ranEach.max),
  overridden: range(20).map((check) => ({
    check: `check-${check}`,
    actor: 'user:alice',
    reason: long(REQUEST_LIMITS.reason.max),
    at: '2026-11-23T17:00:00.000Z',
  })),
  leaves: {
    left: range(STATE_LIMITS.inheritedLeft.max).map((version) => long(200, `${n}-${version}-`)),
    before: n % 2 === 0 ? { units: inlineUnits } : { at: long(200, 's3://snapshots/'), pages: 20 },
    settled: units(100, 'settled'),
  },
});
