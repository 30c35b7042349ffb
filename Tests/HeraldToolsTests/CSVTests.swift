import HeraldTools
import Testing

@Suite("CSV files")
struct CSVTests {
    @Test(
        "Cells are quoted where they have to be, and do nothing in a spreadsheet",
        arguments: [
            ("plain", "plain"), ("a,b", "\"a,b\""), ("say \"hi\"", "\"say \"\"hi\"\"\""), ("=1+1", "'=1+1"),
            ("+49 30", "'+49 30"), ("-2+3", "'-2+3"), ("-17", "-17"), ("@sum(a)", "'@sum(a)"), ("|calc", "'|calc"),
            ("  =1+1", "'  =1+1"), ("\t=1+1", #"\t=1+1"#), ("a\r\nb", #"a\r\nb"#), ("", ""),
            ("\u{1B}[31mred", #"\u{1B}[31mred"#), ("\u{202E}evil", #"\u{202E}evil"#),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"), ("＝1", "'＝1"), (" x ", "\" x \""),
        ])
    func cells(text: String, cell: String) {
        #expect(CSVText.line([text]) == cell + "\r\n")
    }
}
