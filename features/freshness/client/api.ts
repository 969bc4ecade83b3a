import type { FreshnessReport } from '../domain/report';

export interface FreshnessClient {
  /** The freshness of pipelines, stalest first. */
  freshness(): Promise<FreshnessReport>;
}
