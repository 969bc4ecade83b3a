import type { Trigger } from '../views';

/**
 * Rollbacks and emergencies: they wait for no room, no calendar and no pick, no release overtakes them, and they concern only one
 * pipeline.
 */
export const isUrgent = ({ kind }: Pick<Trigger, 'kind'>): boolean => kind === 'rollback' || kind === 'emergency';

/** Follow-ons too: they belong to the rollout of another release. None of these waits for offers of other pipelines. */
export const takesOffersAnyway = (trigger: Pick<Trigger, 'kind'>): boolean =>
  isUrgent(trigger) || trigger.kind === 'follow-on';

/** Whether its deploys bring a version for the first time. */
export const bringsNews = ({ kind }: Pick<Trigger, 'kind'>): boolean =>
  kind !== 'rollback' && kind !== 'follow-on' && kind !== 'undeploy';

/** These, and undeploys: each has deploys only, and waits for no room, no calendar and no pick. */
export const skipsTheQueue = (trigger: Pick<Trigger, 'kind'>): boolean =>
  takesOffersAnyway(trigger) || trigger.kind === 'undeploy';
