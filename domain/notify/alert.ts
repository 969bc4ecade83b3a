import { parseId, type OfRelease } from '../ids';
import { isPage, type Notice, type NoticeOn } from './notice';

/** The step of an incident in a service for people on call. */
type AlertStep = 'trigger' | 'acknowledge' | 'resolve';

/** Whether a notice opens an incident, says that a person cares for it, or ends it. */
export const ALERT_STEPS: Readonly<Record<NoticeOn, AlertStep>> = {
  reverted: 'trigger',
  paused: 'trigger',
  failed: 'trigger',
  expired: 'trigger',
  'offer-broken': 'trigger',
  succeeded: 'resolve',
  cancelled: 'resolve',
  'on-call': 'trigger',
  answered: 'acknowledge',
  settled: 'resolve',
};

/**
 * `conveyor/kvstore/12`: the name of the incident of a release, to which later notices of the release are added. A page has an incident of its own,
 * for its deploy.
 */
export const alertKey = ({ release, deploy, on }: Notice): string =>
  `${ALERT_PREFIX}${isPage(on) ? (deploy ?? release) : release}`;

const ALERT_PREFIX = 'conveyor/';

/** The release or deploy of an incident; undefined for an incident that is not Conveyor's. */
export function parseAlertKey(key: string): OfRelease | undefined {
  const id = key.startsWith(ALERT_PREFIX) ? parseId(key.slice(ALERT_PREFIX.length)) : undefined;
  return id?.kind === 'pipeline' ? undefined : id;
}
