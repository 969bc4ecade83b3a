import { fromCycloneDx, isCycloneDx } from './cycloneDx';
import { isFields } from './fields';
import type { Sbom } from './sbom';
import { fromSpdx, isSpdx } from './spdx';

export type SbomReadResult = { readonly sbom: Sbom } | { readonly problem: string };

/** An SBOM from its text, or the reason why the text is not one. */
export function readSbom(text: string): SbomReadResult {
  const value = sbomJson(text);
  if (value === undefined) return { problem: 'it is not JSON' };
  if (!isFields(value) || (!isCycloneDx(value) && !isSpdx(value)))
    return { problem: 'it is neither CycloneDX nor SPDX 2 in JSON' };
  const sbom = isCycloneDx(value) ? fromCycloneDx(value) : fromSpdx(value);
  return sbom.components.length === 0 ? { problem: 'it lists nothing' } : { sbom };
}

function sbomJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
  } catch {
    return undefined;
  }
}
