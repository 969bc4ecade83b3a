import { createHash } from 'node:crypto';
import { canonicalJson } from '../../domain/audit/chain';
import { auditChanges, type AuditEntry } from '../../domain/audit/record';
import type { Artifact } from '../../domain/artifact';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import type { PipelineApplyResult } from '../api';

/** Parts of audit records that several operations share. */

export const buildApplyEntry = (
  spec: PipelineSpec,
  { previous, created }: PipelineApplyResult,
): Partial<AuditEntry> => ({
  result: created ? 'created' : 'changed',
  before: previous === null ? null : canonicalDigest(previous),
  after: canonicalDigest(spec),
  ...(previous === null ? {} : auditChanges(previous, spec)),
});

/** SHA-256 of the same text for the same value. */
export const canonicalDigest = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('hex');

/** The entry for versions submitted to a pipeline. */
export const buildSubmissionEntry = (actor: string, target: string, artifacts: readonly Artifact[]) => ({
  ...{ actor, target, came: buildStartEntry },
  ...auditChanges({}, Object.fromEntries(artifacts.map(({ name, version }) => [name, version]))),
});

interface AuditedStart {
  readonly id: string | null;
  readonly duplicate: boolean;
}

export function buildStartEntry({ id, duplicate }: AuditedStart): Partial<AuditEntry> {
  if (id === null) return { result: 'kept; no release yet' };
  return { result: duplicate ? `${id}, which already existed` : id };
}
