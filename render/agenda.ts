import type { AgendaMoment, AgendaSpan } from '../domain/agenda';
import { getDateFormat } from './dateFormat';
import type { View } from './paint';
import { clock } from './times';

/** Words of the calendar of pipelines. */

export const MOMENT_WORDS: Readonly<Record<AgendaMoment['kind'], string>> = {
  calendar: 'calendar',
  blackout: 'blackout',
  thaw: 'end of a freeze',
  end: 'expected end',
};

const AGENDA_SPAN_WORDS: Readonly<Record<AgendaSpan['kind'], string>> = {
  open: 'open',
  blackout: 'blackout',
  frozen: 'frozen',
};

/** `deploy open 23 Nov 09:00:00 to 23 Nov 17:00:00` */
export function describeSpan({ kind, actions, from, to, why }: AgendaSpan, view: View): string {
  const who = actions.length === 0 ? '' : `${actions.join(', ')} `;
  return `${who}${AGENDA_SPAN_WORDS[kind]} ${clock(from, view)} to ${clock(to, view)}${why === null ? '' : `: ${why}`}`;
}

const formatUtcDay = (iso: string, options: Intl.DateTimeFormatOptions): string =>
  getDateFormat({ ...options, timeZone: 'UTC' }).format(Date.parse(iso));

/** `Monday 23 November` */
export const agendaDay = (iso: string): string =>
  formatUtcDay(iso, { weekday: 'long', day: 'numeric', month: 'long' }).replace(',', '');

/** `Mon 23` */
export const shortAgendaDay = (iso: string): string =>
  formatUtcDay(iso, { weekday: 'short', day: 'numeric' }).replace(',', '');
