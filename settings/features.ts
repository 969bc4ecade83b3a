import { bugFields, toBugs, type BugSettings } from '../features/bugs/settings/bugs';
import type { FreshnessPolicy } from '../features/freshness/domain/policy';
import { freshnessFields, toFreshness } from '../features/freshness/settings/freshness';
import type { ExtensionRef } from './extensions';

/** The settings of all features: their keys in conveyor.config.yaml. */
export interface FeatureSettings {
  readonly bugs: BugSettings;
  readonly freshness: FreshnessPolicy;
}

export const featureFields = {
  ...bugFields,
  ...freshnessFields,
};

type FeatureConfig = Parameters<typeof toBugs>[0] & Parameters<typeof toFreshness>[0];

/** @throws ConveyorError `config-invalid` */
export const toFeatures = (
  config: FeatureConfig,
  extensions: readonly ExtensionRef[],
  file: string,
): FeatureSettings => ({
  ...toBugs(config),
  ...toFreshness(config, extensions, file),
});
