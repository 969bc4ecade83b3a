import { z } from 'zod';
import type { AgendaMoment, PipelineAgenda } from '../../domain/agenda';
import { getAgendaPeriod, planAgenda, type AgendaPeriod } from '../../domain/calendar/agenda';
import { PAGE_LIMITS } from '../../domain/limits';
import { formatTime } from '../../domain/text';
import type { PipelineSummary } from '../../domain/views';
import { expectEverywhere } from '../../domain/where/progress';
import type { KeptState } from '../../pages/models';
import { renderCalendarPage } from '../../pages/calendar';
import { parseQuery } from '../body';
import { describeKept, pageFilter, toSharedKey, unlessLate } from './looks';
import { createPageRow, type PageSource } from './page';

const calendarQuery = z.object({
  ...{ q: pageFilter, owner: pageFilter, label: pageFilter },
  cursor: z.string().max(4_010).default(''),
});

/** Files of pipelines change rarely. */
const AGENDA_SHARED_MS = 30_000;
const ENDS_SHARED_MS = 5_000;
/** The deploys of one pipeline that are asked when they end. */
const DEPLOYS_ASKED = 3;

export const CALENDAR_PAGE = createPageRow({ link: 'Calendar', paths: ['/calendar', '/calendar.json'] }, (source) => ({
  read: async (c) => {
    const { cursor, ...filters } = parseQuery(c, calendarQuery);
    const query = { ...filters, ...(cursor === '' ? {} : { cursor }), limit: PAGE_LIMITS.calendar.max };
    const { pipelines, next, total } = await source.looks.read(toSharedKey('calendar', query), () =>
      source.pipelinePage(query),
    );
    const period = getAgendaPeriod(source.now());
    const found = await Promise.all(pipelines.map((pipeline) => readAgenda(source, pipeline, period)));
    const agendas = found.map(({ agenda }) => agenda);
    const span = { from: formatTime(period.fromMs), to: formatTime(period.toMs) };
    return { filters, ...span, agendas, next, total, isLater: cursor !== '', kept: findOldest(found) };
  },
  // Days are those of UTC, which all readers share.
  render: (model, frame) => renderCalendarPage(model, { ...frame, view: { ...frame.view, timeZone: 'UTC' } }),
}));

interface FoundAgenda {
  readonly agenda: PipelineAgenda;
  /** Null for one that is younger than its life. */
  readonly kept: KeptState | null;
}

const findOldest = (found: readonly FoundAgenda[]): KeptState | null =>
  found.reduce<KeptState | null>((oldest, { kept }) => {
    if (kept === null || oldest === null) return oldest ?? kept;
    return { at: kept.at < oldest.at ? kept.at : oldest.at, problem: oldest.problem ?? kept.problem };
  }, null);

async function readAgenda(source: PageSource, pipeline: PipelineSummary, period: AgendaPeriod): Promise<FoundAgenda> {
  const { looks } = source;
  const { id, state, frozenUntil, stopped } = pipeline;
  const key = toSharedKey('agenda', { id, state, frozenUntil, stopped, ...period });
  const [read, ends] = await Promise.all([
    unlessLate(looks.readKept(key, () => planFromFile(source, pipeline, period), AGENDA_SHARED_MS)),
    pipeline.active.length === 0
      ? []
      : unlessLate(looks.read(`agenda ends ${id}`, () => listDeployEnds(source, id), ENDS_SHARED_MS)),
  ]);
  if (read === null) {
    const problem = pipeline.problem ?? 'its file did not arrive in time';
    return { agenda: { id, spans: [], moments: [], isCut: false, problem }, kept: null };
  }
  const { answer: agenda, ...age } = read;
  const moments = [...agenda.moments, ...(ends ?? []).filter(({ at }) => Date.parse(at) < period.toMs)];
  return {
    agenda: { ...agenda, moments: moments.sort((a, b) => a.at.localeCompare(b.at)) },
    kept: describeKept(age),
  };
}

/** Zones are slow, so all readers share the result. */
async function planFromFile(
  { client, config, now }: PageSource,
  pipeline: PipelineSummary,
  period: AgendaPeriod,
): Promise<PipelineAgenda> {
  const spec = await client.spec(pipeline.id);
  return planAgenda({ pipeline, spec, spreadMs: config.settings?.calendarSpreadMs ?? 0, nowMs: now() }, period);
}

/** When the deploys under way will be everywhere if all goes well, as far as their own phases show. */
async function listDeployEnds({ client, looks, now }: PageSource, pipeline: string): Promise<readonly AgendaMoment[]> {
  const deploys = await client.listDeploys({ pipeline, limit: 10 });
  const open = deploys.filter(({ endedAt }) => endedAt === null).slice(0, DEPLOYS_ASKED);
  const ends = await Promise.all(
    open.map(async ({ id }): Promise<AgendaMoment[]> => {
      const status = await unlessLate(looks.status(id));
      if (status?.kind !== 'deploy') return [];
      const endMs = expectEverywhere(status, { nowMs: now(), window: undefined, pastUpdateMs: null });
      if (endMs === null || endMs < now()) return [];
      return [
        { kind: 'end', at: formatTime(endMs), id, text: 'everywhere then if all goes well; windows not counted' },
      ];
    }),
  );
  return ends.flat();
}
