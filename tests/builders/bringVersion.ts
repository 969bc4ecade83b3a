import type { Hono } from 'hono';

export interface BroughtVersion {
  readonly updateId: string;
  readonly version: string;
  readonly units: readonly string[];
  readonly amount?: object;
  readonly updatedBy?: readonly string[];
  readonly urgency?: 'normal' | 'revert';
  readonly wholeUnit?: boolean;
  readonly release?: number;
}

/** Sends an update to a push type as a deploy does; all tasks of the units if no amount is given. */
export async function bringVersion(app: Hono, update: BroughtVersion): Promise<void> {
  const { updateId, version, units, amount = { all: true }, updatedBy, urgency = 'normal' } = update;
  const wholeUnit = update.wholeUnit ?? update.amount === undefined;
  const targets = units.map((unit) => ({
    ...{ unit, version, artifacts: [] },
    ...(updatedBy === undefined ? { amount } : { updatedBy }),
  }));
  const deployId = updateId.split('/').slice(0, -2).join('/');
  const context = {
    pipeline: 'kvstore',
    release: update.release ?? 1,
    deployId,
    actor: 'user:alice',
    config: { units },
  };
  const answer = await app.request('/executeUpdates', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': updateId },
    body: JSON.stringify({ updateId, targets, wholeUnit, urgency, context }),
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
}
