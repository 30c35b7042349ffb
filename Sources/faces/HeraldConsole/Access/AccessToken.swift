/// Texts that cannot be guessed.
enum AccessToken {
    /// 256 bits from the system's generator, in hexadecimal.
    static func random() -> String {
        (0..<4).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
