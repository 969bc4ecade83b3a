import type { BugsClient } from '../features/bugs/client/api';
import type { FreshnessClient } from '../features/freshness/client/api';
import type { FreshnessPolicy } from '../features/freshness/domain/policy';

/** The operations of all features. */
export interface FeatureClient extends BugsClient, FreshnessClient {}

/** The settings of features that a client needs. */
export interface FeatureSettings {
  readonly freshness?: FreshnessPolicy;
}
