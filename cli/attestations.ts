import { readText } from './textFile';

/** Attestations in files, as they travel in the metadata of an artifact. @throws file-unreadable */
export const readAttestations = (files: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    files.map((file, at) => [at === 0 ? 'attestation' : `attestation.${at + 1}`, compact(readText(file))]),
  );

/** Compacts JSON and reduces a Sigstore bundle to its envelope. Any other text stays unchanged, and is refused with a clear message later. */
function compact(text: string): string {
  try {
    const value = JSON.parse(text) as { readonly dsseEnvelope?: unknown } | null;
    return JSON.stringify(value?.dsseEnvelope ?? value);
  } catch {
    return text.trim();
  }
}
