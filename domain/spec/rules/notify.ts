import { hostWritten, isMetadataHost } from '../../notifyHost';
import type { Rule } from '../rule';
import { errorAt } from '../problem';

/** Addresses to which notifications never go. */
const targets: Rule = ({ notify }) =>
  notify.flatMap(({ url }, index) => {
    const host = url === undefined ? undefined : hostWritten(url);
    if (host === undefined || !isMetadataHost(host)) return [];
    const hint = 'name a receiver of yours; addresses of this kind hold the secrets of the machine that sends';
    return [errorAt(['notify', index, 'url'], 'internal-address', `nothing is sent to ${host}`, hint)];
  });

/** The schedule of the people on call is read by a worker, too. */
const schedules: Rule = ({ onCall }) => {
  const host = onCall && hostWritten(onCall.page);
  if (host === undefined || !isMetadataHost(host)) return [];
  const hint = 'name a schedule of yours; addresses of this kind hold the secrets of the machine that reads';
  return [errorAt(['onCall', 'page'], 'internal-address', `nothing is read from ${host}`, hint)];
};

export const notifyRules: readonly Rule[] = [targets, schedules];
