import { listPipelines } from '../../../client/lists';
import type { ClientOptions } from '../../../client/options';
import type { Workflows } from '../../../client/workflows';
import { DEFAULT_FRESHNESS } from '../domain/policy';
import { freshnessReport } from '../domain/report';
import type { FreshnessClient } from './api';
import { lastTicketRound } from './tickets';

export const freshnessClient = (workflows: Workflows, { platform }: ClientOptions): FreshnessClient => ({
  freshness: async () => {
    const [pipelines, round] = await Promise.all([
      listPipelines(workflows, { limit: Infinity }),
      // Tickets are fetched separately, so that a slow server does not delay the rest.
      lastTicketRound(workflows.temporal).catch(() => null),
    ]);
    return freshnessReport(pipelines, platform?.freshness ?? DEFAULT_FRESHNESS, Date.now(), round);
  },
});
