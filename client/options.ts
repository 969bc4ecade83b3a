import type { RangeTest } from '../domain/offers/judge';
import type { Policy } from '../domain/principals';
import type { Settings } from '../domain/settings';
import type { ConfigFinding } from '../domain/spec/configFindings';
import type { PipelineSpec } from '../domain/spec/pipeline';
import type { ConnectionOptions } from './connection';
import type { FeatureSettings } from './featureApi';
import type { Seal } from './seal';

export interface Platform extends FeatureSettings {
  readonly groups: Policy['groups'];
  readonly settings: Settings;
  readonly seal?: Seal | null;
}

export interface ClientOptions extends ConnectionOptions {
  readonly taskQueue?: string | undefined;
  /** The platform's settings (settings/registry), which pipelines copy when they are applied. */
  readonly platform?: Platform;
  /** Lets push types check the configs of a spec before it is applied; without it they are not checked. */
  readonly checkConfigs?: (spec: PipelineSpec, actor: string) => Promise<readonly ConfigFinding[]>;
  /** Compares versions by npm's rules, to show offers that do not fit their users; without it all versions count as fitting. */
  readonly isInRange?: RangeTest;
  /** The address of the Temporal Web UI; by default 1,000 ports above the server. */
  readonly webUi?: string;
}
