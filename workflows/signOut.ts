import { setWorkflowOptions, sleep } from '@temporalio/workflow';
import { buildVersioningOptions } from './versioning';

export interface SignOutInput {
  /** In ms: longer than any copy of the session can be valid. */
  readonly keptMs: number;
}

/**
 * Its existence ends a session, or all sessions of a principal, at every server (docs/adr/0078). Servers look for its id and never for its state, so
 * a sign-out needs no worker.
 */
export async function signOut({ keptMs }: SignOutInput): Promise<void> {
  await sleep(keptMs, { summary: 'until no copy of the session is valid' });
}
setWorkflowOptions(buildVersioningOptions('signOut'), signOut);
