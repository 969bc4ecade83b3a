import type { Trigger } from '../views';

/**
 * What goes back, and emergencies: they wait for no room, no calendar and no pick, nobody overtakes them, and they are about one
 * pipeline alone.
 */
export const isUrgent = ({ kind }: Pick<Trigger, 'kind'>): boolean => kind === 'rollback' || kind === 'emergency';
