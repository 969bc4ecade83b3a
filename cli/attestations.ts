import { readText } from './textFile';

/** Attestations in files, as they travel in the metadata of an artifact. @throws file-unreadable */
export const readAttestations = (files: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    files.map((file, at) => [at === 0 ? 'attestation' : `attestation.${at + 1}`, compact(readText(file))]),
  );

/** Without spaces, and of a Sigstore bundle only the envelope. What is not JSON stays as it is, and is refused in words where it counts. */
function compact(text: string): string {
  try {
    const value = JSON.parse(text) as { readonly dsseEnvelope?: unknown } | null;
    return JSON.stringify(value?.dsseEnvelope ?? value);
  } catch {
    return text.trim();
  }
}
