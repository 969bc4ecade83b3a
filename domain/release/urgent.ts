import type { Trigger } from '../views';

/**
 * Rollbacks and emergencies: they wait for no room, no calendar and no pick, no release overtakes them, and they concern only one
 * pipeline.
 */
export const isUrgent = ({ kind }: Pick<Trigger, 'kind'>): boolean => kind === 'rollback' || kind === 'emergency';

/**
 * Urgent releases and follow-ons, which belong to the rollout of another release. Each is a single deploy, and waits for no room, no
 * calendar and no pick.
 */
export const skipsTheQueue = (trigger: Pick<Trigger, 'kind'>): boolean =>
  isUrgent(trigger) || trigger.kind === 'follow-on';
