import type { Trigger } from '../views';

/**
 * What goes back, and emergencies: they wait for no room, no calendar and no pick, nobody overtakes them, and they are about one
 * pipeline alone.
 */
export const isUrgent = ({ kind }: Pick<Trigger, 'kind'>): boolean => kind === 'rollback' || kind === 'emergency';

/**
 * What is urgent, and a follow-on, which belongs to the rollout of another release: these are one deploy, and wait for no room, no
 * calendar and no pick.
 */
export const skipsTheQueue = (trigger: Pick<Trigger, 'kind'>): boolean =>
  isUrgent(trigger) || trigger.kind === 'follow-on';
